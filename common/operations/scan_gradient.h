// Derives the backward of a scan; see scan.h.
#ifndef PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_
#define PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_

#include "common/operations/scan.h"

namespace paceline::op {

struct DifferentiableScan {
  // The body, with the residuals as additional outputs.
  ScanBody forward;
  ScanBackward backward;
};

DifferentiableScan Differentiate(const ScanBody& body);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_
