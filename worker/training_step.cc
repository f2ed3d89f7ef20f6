#include "worker/training_step.h"

#include "common/base/status_macros.h"

namespace paceline {
namespace {

bool HasBuckets(const Section& section) {
  return !section.ready_buckets.empty() || !section.final_buckets.empty();
}

absl::Status HandOver(const Section& section, Strategy& strategy,
                      TraceLane* lane) {
  if (!HasBuckets(section)) return absl::OkStatus();
  const ScopedSpan span(lane, "pass gradients on");
  for (const int bucket : section.ready_buckets) {
    RETURN_IF_ERROR(strategy.GradientsReady(bucket));
  }
  for (const int bucket : section.final_buckets) strategy.BucketFinal(bucket);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunSections(Program& program, Stream& stream, Strategy& strategy,
                         absl::FunctionRef<void()> worked, TraceLane* lane) {
  const absl::Span<const Section> sections = program.sections();
  const int count = static_cast<int>(sections.size());
  int handed_over = 0;
  for (int section = 0; section < count; ++section) {
    {
      const ScopedSpan span(lane, "forward and backward", section + 1, count);
      RETURN_IF_ERROR(program.Enqueue(section, stream));
    }
    while (handed_over <= section &&
           program.section_event(handed_over).HasPassed()) {
      worked();
      RETURN_IF_ERROR(HandOver(sections[handed_over++], strategy, lane));
    }
  }
  for (; handed_over < count; ++handed_over) {
    if (HasBuckets(sections[handed_over])) {
      const ScopedSpan span(lane, "wait for the device");
      RETURN_IF_ERROR(program.section_event(handed_over).Wait());
    }
    worked();
    RETURN_IF_ERROR(HandOver(sections[handed_over], strategy, lane));
  }
  return absl::OkStatus();
}

}  // namespace paceline
