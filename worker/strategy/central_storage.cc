#include "worker/strategy/central_storage.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace paceline {

CentralStorageStrategy::CentralStorageStrategy(
    std::function<void(const std::string&)> on_waiting, Transport& transport,
    const ShardPlan& plan, LocalVariables& central, ModelState& state,
    Stream& stream)
    : on_waiting_(std::move(on_waiting)),
      plan_(plan),
      central_(central),
      state_(state),
      stream_(stream),
      collectives_(transport),
      waiting_(absl::StrCat("the gradients of ", transport.world_size(),
                            " replicas")) {}

absl::Status CentralStorageStrategy::PullVariables() {
  for (size_t b = 0; b < plan_.buckets().size(); ++b) {
    const int bucket = static_cast<int>(b);
    const absl::Span<const std::byte> central = central_.memory(bucket, -1);
    const absl::Span<std::byte> own = state_.host_variables(bucket);
    if (own.data() != central.data()) {
      std::memcpy(own.data(), central.data(), central.size());
    }
  }
  return UploadAll(plan_, state_, stream_);
}

// They are added up where they lie.
absl::Status CentralStorageStrategy::GradientsReady(int /*bucket*/) {
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CentralStorageStrategy::EndStep(
    const v1::Progress& /*progress*/) {
  on_waiting_(waiting_);
  for (size_t b = 0; b < plan_.buckets().size(); ++b) {
    const int bucket = static_cast<int>(b);
    RETURN_IF_ERROR(state_.type() == DataType::kFloat64
                        ? Update<double>(bucket)
                        : Update<float>(bucket));
  }
  const int64_t step = central_.iterations() + 1;
  // Until all parts are updated. That all have copied them is known before the
  // next update: who owns a part hears of all others before it is complete.
  RETURN_IF_ERROR(collectives_.Barrier());
  on_waiting_("");
  if (collectives_.rank() == 0) central_.EndUpdate();
  RETURN_IF_ERROR(PullVariables());
  return step;
}

template <typename T>
absl::Status CentralStorageStrategy::Update(int bucket) {
  const absl::Span<std::byte> bytes = state_.host_gradients(bucket);
  const absl::Span<T> gradients(reinterpret_cast<T*>(bytes.data()),
                                bytes.size() / sizeof(T));
  RETURN_IF_ERROR(collectives_.ReduceScatter(gradients, ReduceOp::kSum));
  const Chunk own = ChunkOf(static_cast<int64_t>(gradients.size()),
                            collectives_.rank(), collectives_.world_size());
  central_.Apply(bucket, own.begin, own.size, state_);
  return absl::OkStatus();
}

}  // namespace paceline
