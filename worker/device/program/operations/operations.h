// Operations that are built from what every LayoutBuilder has, so that all
// devices share them. Each is in its own file.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATIONS_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATIONS_H_

#include "worker/device/program/operations/operation_table.h"

namespace paceline {

// Whether a cast is from float32 to ids or from float64 to float32. Each device
// implements these itself.
ComputesOperation IsCastToIdsOrOfSums;
AddOperation<LayoutBuilder> AddConcatenate;
// float32 constants, which AddConstant implements.
ComputesOperation IsFloatConstant;
AddOperation<LayoutBuilder> AddConstant;
// float32 ranges, which AddIota implements.
ComputesOperation IsFloatIota;
AddOperation<LayoutBuilder> AddIota;
AddOperation<LayoutBuilder> AddPad;
// Reductions over one or more axes, which AddReduce implements.
ComputesOperation HasAxes;
AddOperation<LayoutBuilder> AddReduce;
AddOperation<LayoutBuilder> AddReshape;
AddOperation<LayoutBuilder> AddReverse;
AddOperation<LayoutBuilder> AddScan;
AddOperation<LayoutBuilder> AddSlice;
AddOperation<LayoutBuilder> AddSumOverReplicas;
AddOperation<LayoutBuilder> AddTranspose;

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_OPERATIONS_OPERATIONS_H_
