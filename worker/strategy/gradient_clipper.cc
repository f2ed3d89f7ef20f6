#include "worker/strategy/gradient_clipper.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>

#include "worker/strategy/typed_values.h"

namespace paceline {

GradientClipper::GradientClipper(const Clipping& clipping,
                                 const ShardPlan& plan, ModelState& state)
    : clipping_(clipping), plan_(plan), state_(state) {
  int variable_count = 0;
  for (const Part& part : plan.parts()) {
    variable_count = std::max(variable_count, part.variable + 1);
  }
  norms_.resize(variable_count);
}

template <typename Visit>
void GradientClipper::VisitParts(int bucket, int64_t begin, int64_t count,
                                 Visit visit) {
  const absl::Span<std::byte> bytes = state_.host_gradients(bucket);
  for (const Part& part : plan_.parts()) {
    if (part.bucket != bucket || !plan_.is_trained(part)) continue;
    const int64_t first = std::max(begin, part.bucket_offset);
    const int64_t end =
        std::min(begin + count, part.bucket_offset + part.count);
    if (first >= end) continue;
    if (state_.type() == DataType::kFloat64) {
      visit(part.variable, As<double>(bytes).subspan(first, end - first));
    } else {
      visit(part.variable, As<float>(bytes).subspan(first, end - first));
    }
  }
}

void GradientClipper::ClipAll() {
  BeginNorms();
  for (size_t b = 0;
       needs_norms() && b < plan_.layout().updated_buckets().size(); ++b) {
    AddNorms(static_cast<int>(b), 0, plan_.layout().buckets()[b].count);
  }
  EndNorms();
  for (size_t b = 0; b < plan_.layout().updated_buckets().size(); ++b) {
    Clip(static_cast<int>(b), 0, plan_.layout().buckets()[b].count);
  }
}

void GradientClipper::ClipValues(int bucket) {
  CHECK(!needs_norms());
  Clip(bucket, 0, plan_.layout().buckets()[bucket].count);
}

void GradientClipper::BeginNorms() {
  std::fill(norms_.begin(), norms_.end(), 0);
}

void GradientClipper::AddNorms(int bucket, int64_t begin, int64_t count) {
  VisitParts(bucket, begin, count, [&](int variable, auto gradients) {
    norms_[variable] += SquaredNorm(gradients);
  });
}

void GradientClipper::EndNorms() { clipping_.ToFactors(squared_norms()); }

void GradientClipper::Clip(int bucket, int64_t begin, int64_t count) {
  VisitParts(bucket, begin, count, [&](int variable, auto gradients) {
    clipping_.Clip(norms_[variable], gradients);
  });
}

}  // namespace paceline
