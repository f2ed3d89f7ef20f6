#include "worker/device/cuda/plugin/cuda_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/cuda/plugin/cublas_lt_product.h"
#include "worker/device/cuda/plugin/cuda_event.h"
#include "worker/device/cuda/plugin/cuda_status.h"
#include "worker/device/cuda/plugin/cudnn_convolution.h"
#include "worker/device/cuda/plugin/cudnn_status.h"
#include "worker/device/cuda/plugin/launch.h"

namespace paceline::cuda {
namespace {

class CudaGraph final : public CapturedGraph {
 public:
  explicit CudaGraph(cudaGraphExec_t graph) : graph_(graph) {}
  ~CudaGraph() override { cudaGraphExecDestroy(graph_); }

  cudaGraphExec_t get() const { return graph_; }

 private:
  const cudaGraphExec_t graph_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Queue>> CudaQueue::Create(
    int ordinal, MathMode math_mode, MemoryBlock workspace) {
  std::unique_ptr<CudaQueue> queue(
      new CudaQueue(ordinal, math_mode, std::move(workspace)));
  RETURN_IF_ERROR(queue->Initialize());
  return queue;
}

CudaQueue::CudaQueue(int ordinal, MathMode math_mode, MemoryBlock workspace)
    : ordinal_(ordinal),
      math_mode_(math_mode),
      name_(absl::StrCat("cuda:", ordinal)),
      workspace_(std::move(workspace)) {}

absl::Status CudaQueue::Initialize() {
  RETURN_IF_ERROR(ToStatus(cudaSetDevice(ordinal_), name_));
  RETURN_IF_ERROR(ToStatus(
      cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), name_));
  ASSIGN_OR_RETURN(end_, CudaEvent::Create());
  return workspace_ == nullptr ? absl::OkStatus() : InitializeProducts();
}

absl::Status CudaQueue::InitializeProducts() {
  RETURN_IF_ERROR(ToStatus(cublasCreate(&blas_), name_));
  // Partial sums in 16 bits would overflow and lose precision.
  const int mode = (math_mode_ == MathMode::kTf32 ? CUBLAS_TF32_TENSOR_OP_MATH
                                                  : CUBLAS_DEFAULT_MATH) |
                   CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  RETURN_IF_ERROR(ToStatus(
      cublasSetMathMode(blas_, static_cast<cublasMath_t>(mode)), name_));
  RETURN_IF_ERROR(ToStatus(cublasSetStream(blas_, stream_), name_));
  // After setting the stream, which resets the workspace.
  return ToStatus(cublasSetWorkspace(blas_, workspace_.get(), kWorkspaceBytes),
                  name_);
}

CudaQueue::~CudaQueue() {
  Use();
  if (dnn_ != nullptr) cudnnDestroy(dnn_);
  if (blas_ != nullptr) cublasDestroy(blas_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void CudaQueue::Use() { Note(cudaSetDevice(ordinal_), "this thread"); }

template <typename Error>
void CudaQueue::Note(Error error, absl::string_view what) {
  if (error == Error{}) return;
  if (error_.ok()) error_ = ToStatus(error, absl::StrCat(name_, ": ", what));
}

void CudaQueue::NoteStatus(const absl::Status& status) {
  if (error_.ok()) error_ = status;
}

absl::Status CudaQueue::TakeError() {
  return std::exchange(error_, absl::OkStatus());
}

absl::Status CudaQueue::Synchronize() {
  // cudaStreamSynchronize would spin, but other replicas need the core; waiting
  // for an event sleeps (cuda_event.h).
  Record(*end_);
  NoteStatus(end_->Wait());
  return TakeError();
}

void CudaQueue::Copy(void* to, const void* from, int64_t size_bytes) {
  Use();
  Note(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, stream_),
       "a copy");
}

void CudaQueue::Zero(void* to, int64_t size_bytes) {
  Use();
  Note(cudaMemsetAsync(to, 0, size_bytes, stream_), "filling with zeros");
}

void CudaQueue::Multiply(const MatrixProduct& product) {
  Use();
  const bool has_bias = product.bias.data != nullptr;
  if (!has_bias && product.column_sums == nullptr) {
    MultiplyPlain(product);
    return;
  }
  const DataType vector_type =
      has_bias ? product.bias.type : DataType::kFloat32;
  const bool is_of_one_type =
      product.left.type == vector_type && product.result.type == vector_type;
  const cublasStatus_t status =
      !is_of_one_type
          ? CUBLAS_STATUS_NOT_SUPPORTED
          : MultiplyFused(
                {// A cuBLAS handle is one of cuBLASLt, too.
                 .handle = reinterpret_cast<cublasLtHandle_t>(blas_),
                 .math_mode = math_mode_,
                 .workspace = workspace_.get(),
                 .workspace_bytes = kWorkspaceBytes,
                 .stream = stream_},
                product);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) {
    Note(status, "a matrix product");
    return;
  }
  MultiplyPlain(product);
  if (has_bias) {
    const int64_t count = product.rows * product.columns;
    ForEach(FourBlocks(count), BiasRelu{.count = count,
                                        .channels = product.columns,
                                        .bias = product.bias,
                                        .values = product.result});
  } else {
    ForEach(FourBlocks(product.columns),
            ColumnSums<float>{.rows = product.inner,
                              .columns = product.columns,
                              .values = product.right,
                              .sums = product.column_sums});
  }
}

// cuBLAS is column-major, so it sees the transpose of a matrix in C order.
// (left · right)ᵀ = rightᵀ · leftᵀ, so swapping the operands is enough.
void CudaQueue::MultiplyPlain(const MatrixProduct& product) {
  const float one = 1;
  const float zero = 0;
  const auto operation = [](bool is_transposed) {
    return is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  // TF32 applies to float32 operands only.
  const bool takes_tf32 =
      math_mode_ == MathMode::kTf32 && product.left.type == DataType::kFloat32;
  const MatrixProduct& p = product;
  Note(cublasGemmStridedBatchedEx_64(
           blas_, operation(p.right_is_transposed),
           operation(p.left_is_transposed), p.columns, p.rows, p.inner, &one,
           p.right.data, ToCuda(p.right.type),
           p.right_is_transposed ? p.inner : p.columns, p.inner * p.columns,
           p.left.data, ToCuda(p.left.type),
           p.left_is_transposed ? p.rows : p.inner, p.rows * p.inner, &zero,
           p.result.data, ToCuda(p.result.type), p.columns, p.rows * p.columns,
           p.count,
           takes_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
           CUBLAS_GEMM_DEFAULT),
       "a matrix product");
}

void CudaQueue::Convolve(const ConvolutionPlan& plan,
                         const ConvolutionBlocks& blocks) {
  Use();
  if (dnn_ == nullptr) {
    Note(cudnnCreate(&dnn_), "cuDNN");
    Note(cudnnSetStream(dnn_, stream_), "cuDNN");
  }
  if (!error_.ok()) return;
  NoteStatus(static_cast<const CudnnConvolution&>(plan).Enqueue(dnn_, stream_,
                                                                blocks));
}

void CudaQueue::ForEach(int64_t count, const Kernel& kernel) {
  if (count == 0) return;
  Use();
  Note(cuda::Launch(count, kernel, stream_), "a kernel");
}

void CudaQueue::Record(Event& event) {
  Use();
  Note(cudaEventRecord(static_cast<CudaEvent&>(event).get(), stream_),
       "recording an event");
}

void CudaQueue::WaitFor(Event& event) {
  Use();
  Note(cudaStreamWaitEvent(stream_, static_cast<CudaEvent&>(event).get(), 0),
       "waiting for an event");
}

void CudaQueue::BeginCapture() {
  Use();
  Note(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
       "capturing a graph");
}

absl::StatusOr<std::unique_ptr<CapturedGraph>> CudaQueue::EndCapture() {
  Use();
  cudaGraph_t graph = nullptr;
  Note(cudaStreamEndCapture(stream_, &graph), "capturing a graph");
  cudaGraphExec_t executable = nullptr;
  if (error_.ok()) {
    Note(cudaGraphInstantiate(&executable, graph, 0), "a graph");
  }
  // EndCapture may succeed although a call in between failed.
  if (graph != nullptr) cudaGraphDestroy(graph);
  RETURN_IF_ERROR(TakeError());
  return std::make_unique<CudaGraph>(executable);
}

void CudaQueue::Launch(CapturedGraph& graph) {
  Use();
  Note(cudaGraphLaunch(static_cast<CudaGraph&>(graph).get(), stream_),
       "launching a graph");
}

}  // namespace paceline::cuda
