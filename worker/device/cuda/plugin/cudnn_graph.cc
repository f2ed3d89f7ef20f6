#include "worker/device/cuda/plugin/cudnn_graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/status_macros.h"

namespace paceline::cuda {
namespace {

// Ids of virtual tensors, which pass values between operations and are not in
// memory.
constexpr int64_t kFirstVirtualTensor = 5;
// The arena's alignment is larger.
constexpr int64_t kBlockAlignment = 16;
// Variables are packed.
constexpr int64_t kBiasAlignment = sizeof(float);

cudnnDataType_t ToCudnn(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return CUDNN_DATA_HALF;
    case DataType::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

// (count, channels, height, width): cuDNN's order of dimensions for any layout.
using Dimensions = std::array<int64_t, 4>;

class GraphMaker {
 public:
  GraphMaker(cudnnHandle_t handle, const ConvolutionShape& shape)
      : handle_(handle), shape_(shape) {}

  absl::StatusOr<CudnnGraph> Make() && {
    RETURN_IF_ERROR(AddConvolution());
    if (shape_.has_bias) RETURN_IF_ERROR(AddBias());
    if (shape_.has_relu) RETURN_IF_ERROR(AddRelu());
    CudnnDescriptor& graph = result_.graph;
    graph.ReferToAll(CUDNN_ATTR_OPERATIONGRAPH_OPS, result_.operations);
    if (handle_ != nullptr) {
      graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle_);
    }
    RETURN_IF_ERROR(graph.Finalize());
    return std::move(result_);
  }

 private:
  Dimensions OutputDimensions() const {
    return {shape_.batch, shape_.filters, shape_.windows.y.output,
            shape_.windows.x.output};
  }

  // Channels are contiguous. Returns the tensor's index.
  absl::StatusOr<size_t> AddTensor(int64_t id, const Dimensions& dimensions,
                                   int64_t alignment) {
    const bool is_block =
        id == kImagesTensor || id == kKernelTensor || id == kOutputsTensor;
    const auto& [count, channels, height, width] = dimensions;
    const Dimensions strides = {height * width * channels, 1, width * channels,
                                channels};
    CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    tensor.Set(CUDNN_ATTR_TENSOR_DATA_TYPE,
               is_block ? ToCudnn(shape_.type) : CUDNN_DATA_FLOAT);
    tensor.SetAll<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, dimensions);
    tensor.SetAll<int64_t>(CUDNN_ATTR_TENSOR_STRIDES, strides);
    tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    tensor.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
    if (id >= kFirstVirtualTensor) {
      tensor.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    }
    RETURN_IF_ERROR(tensor.Finalize());
    result_.tensors.push_back(std::move(tensor));
    return result_.tensors.size() - 1;
  }

  // The output of the next operation: the block `outputs`, or a virtual tensor
  // if another operation follows.
  absl::StatusOr<size_t> AddOutputs(bool is_last) {
    return AddTensor(is_last ? kOutputsTensor : next_virtual_++,
                     OutputDimensions(), kBlockAlignment);
  }

  absl::StatusOr<size_t> AddConvolutionDescription() {
    const auto& [y, x, channels] = shape_.windows;
    const auto pad_after = [](const AxisWindow& axis) {
      const int64_t last = (axis.output - 1) * axis.stride - axis.pad_before +
                           (axis.size - 1) * axis.dilation;
      return std::max<int64_t>(0, last + 1 - axis.input);
    };
    CudnnDescriptor description(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    description.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    description.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    description.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{2});
    description.SetAll<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                                {y.pad_before, x.pad_before});
    description.SetAll<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
                                {pad_after(y), pad_after(x)});
    description.SetAll<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                                {y.stride, x.stride});
    description.SetAll<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS,
                                {y.dilation, x.dilation});
    RETURN_IF_ERROR(description.Finalize());
    result_.descriptions.push_back(std::move(description));
    return result_.descriptions.size() - 1;
  }

  // The names of a pass's attributes.
  struct PassNames {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t description;
    cudnnBackendAttributeName_t images;
    cudnnBackendAttributeName_t kernel;
    cudnnBackendAttributeName_t outputs;
    cudnnBackendAttributeName_t alpha;
    cudnnBackendAttributeName_t beta;
  };
  static PassNames NamesOf(ConvolutionPass pass) {
    switch (pass) {
      case ConvolutionPass::kForward:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
      case ConvolutionPass::kInputGradient:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
      case ConvolutionPass::kKernelGradient:
        break;
    }
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }

  absl::Status AddConvolution() {
    const auto& [y, x, channels] = shape_.windows;
    ASSIGN_OR_RETURN(const size_t description, AddConvolutionDescription());
    ASSIGN_OR_RETURN(
        const size_t images,
        AddTensor(kImagesTensor, {shape_.batch, channels, y.input, x.input},
                  kBlockAlignment));
    ASSIGN_OR_RETURN(
        const size_t kernel,
        AddTensor(kKernelTensor,
                  {shape_.filters, channels / shape_.groups, y.size, x.size},
                  kBlockAlignment));
    ASSIGN_OR_RETURN(last_, AddOutputs(!shape_.has_bias && !shape_.has_relu));
    const PassNames names = NamesOf(shape_.pass);
    CudnnDescriptor operation(names.operation);
    operation.Refer(names.description, result_.descriptions[description]);
    operation.Refer(names.images, result_.tensors[images]);
    operation.Refer(names.kernel, result_.tensors[kernel]);
    operation.Refer(names.outputs, result_.tensors[last_]);
    operation.Set(names.alpha, 1.0f);
    operation.Set(names.beta, 0.0f);
    return AddOperation(std::move(operation));
  }

  absl::Status AddBias() {
    ASSIGN_OR_RETURN(
        const size_t bias,
        AddTensor(kBiasTensor, {1, shape_.filters, 1, 1}, kBiasAlignment));
    CudnnDescriptor description(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    description.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
    return AddPointwise(std::move(description), &bias,
                        /*is_last=*/!shape_.has_relu);
  }

  absl::Status AddRelu() {
    CudnnDescriptor description(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    description.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD);
    description.Set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
    return AddPointwise(std::move(description), /*operand=*/nullptr,
                        /*is_last=*/true);
  }

  // Adds an operation on the last operation's output and, unless it is null,
  // another tensor.
  absl::Status AddPointwise(CudnnDescriptor description, const size_t* operand,
                            bool is_last) {
    description.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    RETURN_IF_ERROR(description.Finalize());
    result_.descriptions.push_back(std::move(description));
    const size_t input = last_;
    ASSIGN_OR_RETURN(last_, AddOutputs(is_last));
    CudnnDescriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.Refer(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                    result_.descriptions.back());
    operation.Refer(CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                    result_.tensors[input]);
    if (operand != nullptr) {
      operation.Refer(CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                      result_.tensors[*operand]);
    }
    operation.Refer(CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                    result_.tensors[last_]);
    return AddOperation(std::move(operation));
  }

  absl::Status AddOperation(CudnnDescriptor operation) {
    RETURN_IF_ERROR(operation.Finalize());
    result_.operations.push_back(std::move(operation));
    return absl::OkStatus();
  }

  const cudnnHandle_t handle_;
  const ConvolutionShape& shape_;
  CudnnGraph result_;
  // The output of the last operation.
  size_t last_ = 0;
  int64_t next_virtual_ = kFirstVirtualTensor;
};

}  // namespace

absl::StatusOr<CudnnGraph> MakeCudnnGraph(cudnnHandle_t handle,
                                          const ConvolutionShape& shape) {
  return GraphMaker(handle, shape).Make();
}

}  // namespace paceline::cuda
