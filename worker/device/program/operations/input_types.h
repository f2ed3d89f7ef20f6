// The types of inputs that devices take, where they are not all float32.
//
// What an operation demands of its inputs is checked where a call is added, and
// not again here.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_INPUT_TYPES_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_INPUT_TYPES_H_

#include "worker/device/program/operations/operation_table.h"

namespace paceline {

TakesTypes AreAnyTypes;
// The first is float32, or the last; others are ids, positions or sums.
TakesTypes BeginWithFloats;
TakesTypes EndWithFloats;
// All are float64: sums over a batch.
TakesTypes AreSums;
// What one Elementwise reads: float32, ids and bool.
TakesTypes AreFloatsIdsOrBools;

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_INPUT_TYPES_H_
