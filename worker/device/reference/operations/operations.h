// The operations of the reference device; each is one file.
#ifndef PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_OPERATIONS_H_
#define PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_OPERATIONS_H_

#include "common/operations/operation.h"
#include "worker/device/reference/operations/evaluation.h"

namespace paceline::reference {

EvaluateOperation EvaluateArgMax;
EvaluateOperation EvaluateAveragePooling;
// In pooling.cc.
EvaluateOperation EvaluateAveragePoolingGradient;
EvaluateOperation EvaluateBatchMoments;
EvaluateOperation EvaluateBinaryMap;
EvaluateOperation EvaluateBroadcast;
EvaluateOperation EvaluateCast;
EvaluateOperation EvaluateCompare;
EvaluateOperation EvaluateConcatenate;
EvaluateOperation EvaluateConstant;
EvaluateOperation EvaluateConvolution;
EvaluateOperation EvaluateConvolutionInputGradient;
EvaluateOperation EvaluateConvolutionKernelGradient;
EvaluateOperation EvaluateCopy;  // Reshape and StopGradient.
EvaluateOperation EvaluateDropoutMask;
EvaluateOperation EvaluateElementwise;
EvaluateOperation EvaluateGatherRows;
EvaluateOperation EvaluateIota;
EvaluateOperation EvaluateLogSoftmax;
EvaluateOperation EvaluateLogSoftmaxGradient;
EvaluateOperation EvaluateMap;
EvaluateOperation EvaluateMatrixProduct;
EvaluateOperation EvaluateMaxPooling;
EvaluateOperation EvaluateMaxPoolingGradient;
EvaluateOperation EvaluatePad;
EvaluateOperation EvaluateRandomNormal;
EvaluateOperation EvaluateReduce;
EvaluateOperation EvaluateResize;
EvaluateOperation EvaluateResizeGradient;
EvaluateOperation EvaluateReverse;
EvaluateOperation EvaluateScan;
EvaluateOperation EvaluateSelect;
EvaluateOperation EvaluateSlice;
EvaluateOperation EvaluateSoftmax;
EvaluateOperation EvaluateSoftmaxGradient;
EvaluateOperation EvaluateSumOverReplicas;
EvaluateOperation EvaluateSumRows;
EvaluateOperation EvaluateTranspose;

}  // namespace paceline::reference

#endif  // PACELINE_WORKER_DEVICE_REFERENCE_OPERATIONS_OPERATIONS_H_
