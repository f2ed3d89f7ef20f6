#include "worker/device/cuda/plugin/cuda_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"
#include "worker/device/cuda/plugin/cuda_event.h"
#include "worker/device/cuda/plugin/cuda_status.h"
#include "worker/device/cuda/plugin/launch.h"

namespace paceline::cuda {
namespace {

// What NVIDIA advises for Hopper; half of it would do before.
constexpr size_t kBlasWorkspaceBytes = 32 << 20;

class CudaGraph final : public CapturedGraph {
 public:
  explicit CudaGraph(cudaGraphExec_t graph) : graph_(graph) {}
  ~CudaGraph() override { cudaGraphExecDestroy(graph_); }

  cudaGraphExec_t get() const { return graph_; }

 private:
  const cudaGraphExec_t graph_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Queue>> CudaQueue::Create(int ordinal) {
  std::unique_ptr<CudaQueue> queue(new CudaQueue(ordinal));
  RETURN_IF_ERROR(queue->Initialize());
  return queue;
}

CudaQueue::CudaQueue(int ordinal)
    : ordinal_(ordinal), name_(absl::StrCat("cuda:", ordinal)) {}

absl::Status CudaQueue::Initialize() {
  RETURN_IF_ERROR(ToStatus(cudaSetDevice(ordinal_), name_));
  RETURN_IF_ERROR(ToStatus(
      cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), name_));
  RETURN_IF_ERROR(ToStatus(cublasCreate(&blas_), name_));
  RETURN_IF_ERROR(
      ToStatus(cudaMalloc(&blas_workspace_, kBlasWorkspaceBytes), name_));
  RETURN_IF_ERROR(ToStatus(cublasSetStream(blas_, stream_), name_));
  // After the stream, which would reset it.
  return ToStatus(
      cublasSetWorkspace(blas_, blas_workspace_, kBlasWorkspaceBytes), name_);
}

CudaQueue::~CudaQueue() {
  Use();
  if (blas_ != nullptr) cublasDestroy(blas_);
  cudaFree(blas_workspace_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void CudaQueue::Use() { Note(cudaSetDevice(ordinal_), "this thread"); }

template <typename Error>
void CudaQueue::Note(Error error, absl::string_view what) {
  if (error == Error{}) return;
  if (error_.ok()) error_ = ToStatus(error, absl::StrCat(name_, ": ", what));
}

absl::Status CudaQueue::TakeError() {
  return std::exchange(error_, absl::OkStatus());
}

absl::Status CudaQueue::Synchronize() {
  Use();
  Note(cudaStreamSynchronize(stream_), "waiting for the stream");
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

// cuBLAS counts by columns, so what it sees of a matrix in C order is the
// transpose: (left · right)ᵀ = rightᵀ · leftᵀ needs no other change.
void CudaQueue::Multiply(const MatrixProduct& product) {
  Use();
  const float one = 1;
  const float zero = 0;
  const auto operation = [](bool is_transposed) {
    return is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  Note(cublasSgemm_64(
           blas_, operation(product.right_is_transposed),
           operation(product.left_is_transposed), product.columns, product.rows,
           product.inner, &one, product.right,
           product.right_is_transposed ? product.inner : product.columns,
           product.left,
           product.left_is_transposed ? product.rows : product.inner, &zero,
           product.result, product.columns),
       "a matrix product");
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
  RETURN_IF_ERROR(TakeError());
  cudaGraphExec_t executable = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  RETURN_IF_ERROR(ToStatus(error, absl::StrCat(name_, ": a graph")));
  return std::make_unique<CudaGraph>(executable);
}

void CudaQueue::Launch(CapturedGraph& graph) {
  Use();
  Note(cudaGraphLaunch(static_cast<CudaGraph&>(graph).get(), stream_),
       "launching a graph");
}

}  // namespace paceline::cuda
