// Derives the body of a scan's backward; see scan.h.
#ifndef PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_
#define PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_

#include "common/operations/scan.h"

namespace paceline::op {

struct DifferentiableScan {
  // The body, with the residuals as additional outputs.
  ScanBody forward;
  // Carries: the gradients of the carries, then the sums of the gradients of
  // floating-point constants. Sequences: the residuals, the sequences, the
  // gradients of floating-point outputs. Constants: the constants. Outputs: the
  // gradients of floating-point sequences.
  ScanBody backward;
};

DifferentiableScan Differentiate(const ScanBody& body);

}  // namespace paceline::op

#endif  // PACELINE_COMMON_OPERATIONS_SCAN_GRADIENT_H_
