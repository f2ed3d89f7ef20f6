#include "ps_server/block_state.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "common/job/job_plan.h"
#include "common/optimizer/moving_statistics.h"
#include "glog/logging.h"

namespace paceline {
namespace {

template <typename T>
constexpr v1::DataType kWireType =
    std::is_same_v<T, double> ? v1::DATA_TYPE_FLOAT64 : v1::DATA_TYPE_FLOAT32;

// Whether the optimizer must update a variable of this block as a whole.
bool NeedsWhole(const ShardPlan& plan, const Block& block,
                const Optimizer& optimizer) {
  const MayCut may_cut = MayCutFor(optimizer);
  return std::any_of(block.parts.begin(), block.parts.end(), [&](int part) {
    return !may_cut(plan.layout().variables()[plan.parts()[part].variable]);
  });
}

}  // namespace

template <typename T>
BlockState<T>::BlockState(const ShardPlan& plan, const Block& block,
                          const Optimizer& optimizer)
    : plan_(plan),
      block_(block),
      optimizer_(optimizer),
      needs_whole_(NeedsWhole(plan, block, optimizer)) {
  const int slot_count =
      is_trained() ? static_cast<int>(optimizer.slot_names().size()) : 0;
  tensors_.emplace_back(block.count, T{0});
  for (int slot = 0; slot < slot_count; ++slot) {
    tensors_.emplace_back(block.count,
                          static_cast<T>(optimizer.slot_initial_value(slot)));
  }
}

template <typename T>
absl::Status BlockState<T>::Check(const DenseValues& gradients) const {
  const auto refuse = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradients of block ", gradients.index, ": ", reason));
  };
  if (plan_.update_of(block_) == VariableUpdate::kNone) {
    return refuse("its variables are frozen");
  }
  if (gradients.dtype != kWireType<T>) {
    return refuse(absl::StrCat("expected ", v1::DataType_Name(kWireType<T>),
                               ", got ", v1::DataType_Name(gradients.dtype)));
  }
  const uint64_t block_count = static_cast<uint64_t>(block_.count);
  const uint64_t count = gradients.values.size() / sizeof(T);
  if (gradients.values.size() % sizeof(T) != 0 ||
      gradients.offset > block_count ||
      count > block_count - gradients.offset) {
    return refuse(absl::StrCat(gradients.values.size(), " bytes from element ",
                               gradients.offset, " do not fit its ",
                               block_.count, " elements of ", sizeof(T),
                               " bytes"));
  }
  if (needs_whole_ && !IsWhole(gradients)) {
    return refuse(absl::StrCat(count, " elements from ", gradients.offset, "; ",
                               optimizer_.class_name(),
                               " takes those of the whole block, which has ",
                               block_.count));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Span<const T> BlockState<T>::ValuesOf(const DenseValues& gradients) {
  const absl::Span<const std::byte> values = gradients.values;
  return {reinterpret_cast<const T*>(values.data()), values.size() / sizeof(T)};
}

template <typename T>
bool BlockState<T>::IsWhole(const DenseValues& gradients) const {
  return ValuesOf(gradients).size() == static_cast<size_t>(block_.count);
}

template <typename T>
uint64_t BlockState<T>::Apply(double learning_rate,
                              const DenseValues& gradients) {
  const absl::Span<const T> given = ValuesOf(gradients);
  const auto given_begin = static_cast<int64_t>(gradients.offset);
  const int64_t given_end = given_begin + static_cast<int64_t>(given.size());

  MutexLock lock(mutex_);
  const UpdateStep step = NextStep(learning_rate);
  for (const int p : block_.parts) {
    const Part& part = plan_.parts()[p];
    const int64_t begin = std::max(OffsetOf(part), given_begin);
    const int64_t end = std::min(OffsetOf(part) + part.count, given_end);
    if (begin >= end) continue;
    const absl::Span<const T> range =
        given.subspan(begin - given_begin, end - begin);
    if (is_trained() && optimizer_.accumulates()) {
      std::vector<T> mean(range.begin(), range.end());
      Accumulate(step, begin, absl::MakeSpan(mean));
      Update(step, part, begin, mean);
    } else if (is_trained()) {
      Update(step, part, begin, range);
    } else {
      MoveByParts(part.momentum, range, Values(begin, range.size()));
    }
  }
  const uint64_t before = version_++;
  return before > gradients.version ? before - gradients.version : 0;
}

template <typename T>
typename BlockState<T>::Spans BlockState<T>::SpansOf(int64_t begin,
                                                     size_t count) {
  Spans spans;
  for (std::vector<T>& tensor : tensors_) {
    spans.push_back(absl::MakeSpan(tensor).subspan(begin, count));
  }
  return spans;
}

template <typename T>
UpdateStep BlockState<T>::NextStep(double learning_rate) const {
  return optimizer_.StepAfter(static_cast<int64_t>(version_), learning_rate);
}

template <typename T>
void BlockState<T>::Accumulate(const UpdateStep& step, int64_t begin,
                               absl::Span<T> gradients) {
  const Spans spans = SpansOf(begin, gradients.size());
  optimizer_.Accumulate(step, gradients, absl::MakeSpan(spans).subspan(1));
}

template <typename T>
void BlockState<T>::Update(const UpdateStep& step, const Part& part,
                           int64_t begin, absl::Span<const T> gradients) {
  if (!is_trained()) {
    return AddDeltas(gradients, Values(begin, gradients.size()));
  }
  const Spans spans = SpansOf(begin, gradients.size());
  UpdateRange<T> range;
  range.values = spans.front();
  range.gradients = gradients;
  range.slots = absl::MakeSpan(spans).subspan(1);
  const VariableSpec& variable = plan_.layout().variables()[part.variable];
  range.variable = {variable.name, variable.shape};
  optimizer_.Apply(step, range);
}

template <typename T>
void BlockState<T>::Add(const DenseValues& gradients) {
  const T* const given = ValuesOf(gradients).data();
  MutexLock lock(mutex_);
  sum_.resize(static_cast<size_t>(block_.count));
  T* const sum = sum_.data();
  const size_t count = sum_.size();
#pragma omp simd
  for (size_t i = 0; i < count; ++i) sum[i] += given[i];
}

template <typename T>
void BlockState<T>::AddSquaredNorms(absl::Span<double> squared_norms) const {
  if (!is_trained()) return;
  MutexLock lock(mutex_);
  for (const int p : block_.parts) {
    const Part& part = plan_.parts()[p];
    const auto elements_of = [&](const std::vector<T>& tensor) {
      return absl::MakeConstSpan(tensor).subspan(OffsetOf(part), part.count);
    };
    squared_norms[part.variable] +=
        optimizer_.accumulates()
            ? SquaredNormOfMean(
                  static_cast<double>(optimizer_.calls_per_update()),
                  elements_of(sum_), elements_of(accumulators()))
            : SquaredNorm(elements_of(sum_));
  }
}

template <typename T>
void BlockState<T>::ApplySum(double learning_rate,
                             absl::Span<const double> factors) {
  MutexLock lock(mutex_);
  const UpdateStep step = NextStep(learning_rate);
  for (const int p : block_.parts) {
    const Part& part = plan_.parts()[p];
    const absl::Span<T> gradients =
        absl::MakeSpan(sum_).subspan(OffsetOf(part), part.count);
    if (is_trained()) {
      Accumulate(step, OffsetOf(part), gradients);
      optimizer_.clipping.Clip(factors[part.variable], gradients);
    }
    Update(step, part, OffsetOf(part), gradients);
  }
  std::fill(sum_.begin(), sum_.end(), T{0});
  ++version_;
}

template <typename T>
void BlockState<T>::Read(DenseBuffer& out) const {
  out.is_filled = true;
  out.dtype = kWireType<T>;
  MutexLock lock(mutex_);
  out.version = version_;
  std::memcpy(out.values.data(), tensors_.front().data(), values_size());
}

template <typename T>
int64_t BlockState<T>::size_bytes() const {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(tensors_.size()) * block_.count *
         static_cast<int64_t>(sizeof(T));
}

template <typename T>
void BlockState<T>::SetVersion(uint64_t version) {
  MutexLock lock(mutex_);
  version_ = version;
}

template <typename T>
void BlockState<T>::SwapAverages() {
  CHECK(optimizer_.use_ema);
  MutexLock lock(mutex_);
  // The average is the last slot.
  if (is_trained() && version_ > 0) tensors_.front().swap(tensors_.back());
}

template class BlockState<float>;
template class BlockState<double>;

}  // namespace paceline
