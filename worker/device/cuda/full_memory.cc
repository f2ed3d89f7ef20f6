#include "worker/device/cuda/full_memory.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/device/cuda/batch_buffers.h"
#include "worker/device/cuda/out_of_memory.h"
#include "worker/device/cuda/program_compiler.h"

namespace paceline::cuda {
namespace {

// Bytes that CUDA allocates for a request.
int64_t Allocated(int64_t size_bytes) {
  constexpr int64_t kGranularity = 2 << 20;
  return (size_bytes + kGranularity - 1) / kGranularity * kGranularity;
}

// Bytes that CudaProgram and its arena allocate.
int64_t BytesOf(const ProgramSpec& spec, const ProgramParts& parts) {
  int64_t constants = 0;
  for (const ProgramParts::Constant& constant : parts.constants) {
    constants += AlignUp(static_cast<int64_t>(constant.bytes.size()));
  }
  return Allocated(parts.layout.arena_size_bytes) +
         BufferGroupsOf(spec).buffers() *
             Allocated(BatchBuffers::SizeBytes(parts.batch_sizes)) +
         Allocated(constants);
}

// The largest batch size below that of `spec` that fits into `free_bytes`; 0:
// none. A binary search, since memory grows with the batch size.
absl::StatusOr<int64_t> LargestBatch(ProgramSpec spec, int64_t free_bytes,
                                     CudaState& state) {
  int64_t fits = 0;
  int64_t too_large = spec.batch_size;
  while (too_large - fits > 1) {
    spec.batch_size = fits + (too_large - fits) / 2;
    ASSIGN_OR_RETURN(const ProgramParts parts,
                     CompileProgram(spec, state, Planning::kForEstimate));
    (BytesOf(spec, parts) <= free_bytes ? fits : too_large) = spec.batch_size;
  }
  return fits;
}

}  // namespace

absl::Status ExplainFullMemory(const absl::Status& error,
                               const ProgramSpec& spec, CudaState& state) {
  const absl::StatusOr<GpuMemory> memory = state.gpu().Memory();
  const absl::StatusOr<ProgramParts> parts =
      CompileProgram(spec, state, Planning::kForEstimate);
  if (!memory.ok() || !parts.ok()) return error;
  // The state's arena could be replaced, so its memory counts as free.
  const int64_t free_bytes = memory->free_bytes + state.arena_size_bytes();
  // There is enough GPU memory, so host memory was short.
  if (BytesOf(spec, *parts) <= free_bytes) return error;
  const ArenaPeak peak = FindPeak(parts->layout);
  const absl::StatusOr<int64_t> fits = LargestBatch(spec, free_bytes, state);
  if (!fits.ok()) return error;
  const int64_t largest = *fits;
  return absl::Status(
      error.code(),
      absl::StrCat(
          error.message(), "; of a batch of ", spec.batch_size, ", ",
          peak.owner, " takes the most at a time, ",
          InMebibytes(peak.owner_bytes), "; ",
          largest == 0
              ? "not even a batch of 1 fits"
              : absl::StrCat("the largest batch that fits is ", largest)));
}

}  // namespace paceline::cuda
