// Input types that devices support, other than all float32.
//
// What an operation itself requires of its inputs is checked when a call is
// created, not here.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_INPUT_TYPES_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_INPUT_TYPES_H_

#include "worker/device/program/operations/operation_table.h"

namespace paceline {

TakesTypes AreAnyTypes;
// The first (or the last) input is float32; the others are ids, positions or
// sums.
TakesTypes BeginWithFloats;
TakesTypes EndWithFloats;
// All inputs are float64: sums over a batch.
TakesTypes AreSums;
// The inputs of an Elementwise operation: float32, ids and bool.
TakesTypes AreFloatsIdsOrBools;

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_INPUT_TYPES_H_
