// Forms of Scan; see operation_forms.h.
#ifndef PACELINE_TESTS_CONFORMANCE_SCAN_FORMS_H_
#define PACELINE_TESTS_CONFORMANCE_SCAN_FORMS_H_

#include <vector>

#include "tests/conformance/operation_forms.h"

namespace paceline {

std::vector<OperationForm> ScanForms();

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_SCAN_FORMS_H_
