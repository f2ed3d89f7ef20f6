// The operations that devices compute by what every LayoutBuilder has; each is
// one file.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATIONS_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATIONS_H_

#include "worker/device/program/operations/operation_table.h"

namespace paceline {

// Of float32 to ids, and of float64 to float32: those that devices, each in its
// own way, compute.
ComputesOperation IsCastToIdsOrOfSums;
AddOperation<LayoutBuilder> AddConcatenate;
// float32, which AddConstant computes.
ComputesOperation IsFloatConstant;
AddOperation<LayoutBuilder> AddConstant;
// float32, which AddIota computes.
ComputesOperation IsFloatIota;
AddOperation<LayoutBuilder> AddIota;
AddOperation<LayoutBuilder> AddPad;
// Sums over one axis or more, which AddReduce computes.
ComputesOperation IsSum;
AddOperation<LayoutBuilder> AddReduce;
AddOperation<LayoutBuilder> AddReshape;
AddOperation<LayoutBuilder> AddSlice;
AddOperation<LayoutBuilder> AddSumOverReplicas;

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATIONS_H_
