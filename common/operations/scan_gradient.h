// Makes the body of a scan's backward; scan.h says how.
#ifndef PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_
#define PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_

#include "common/operations/scan.h"

namespace paceline::op {

struct DifferentiableScan {
  // The body, with the residuals as further outputs.
  ScanBody forward;
  // Carries: the gradients by the carries, then the sums of those by the real
  // constants. Sequences: the residuals, the sequences, the gradients by the
  // real outputs. Constants: the constants. Outputs: the gradients by the real
  // sequences.
  ScanBody backward;
};

DifferentiableScan Differentiate(const ScanBody& body);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_
