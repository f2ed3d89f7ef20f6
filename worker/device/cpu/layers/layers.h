// The layers that the CPU device computes its own way. Each function is in a
// file of its name.
#ifndef PACELINE_WORKER_DEVICE_CPU_LAYERS_LAYERS_H_
#define PACELINE_WORKER_DEVICE_CPU_LAYERS_LAYERS_H_

#include "worker/device/cpu/node_computation.h"
#include "worker/device/program/layer_table.h"

namespace paceline::cpu {

using NodeFactory = ::paceline::NodeFactory<ProgramBuilder>;

NodeFactory MakeBatchNormalization;

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_LAYERS_LAYERS_H_
