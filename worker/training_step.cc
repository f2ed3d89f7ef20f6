#include "worker/training_step.h"

#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::Status HandOver(const Section& section, Strategy& strategy) {
  for (const int bucket : section.ready_buckets) {
    RETURN_IF_ERROR(strategy.GradientsReady(bucket));
  }
  for (const int bucket : section.final_buckets) strategy.BucketFinal(bucket);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunSections(Program& program, Stream& stream, Strategy& strategy,
                         absl::FunctionRef<void()> worked) {
  const absl::Span<const Section> sections = program.sections();
  const int count = static_cast<int>(sections.size());
  int handed_over = 0;
  for (int section = 0; section < count; ++section) {
    RETURN_IF_ERROR(program.Enqueue(section, stream));
    while (handed_over <= section &&
           program.section_event(handed_over).HasPassed()) {
      worked();
      RETURN_IF_ERROR(HandOver(sections[handed_over++], strategy));
    }
  }
  for (; handed_over < count; ++handed_over) {
    if (!sections[handed_over].ready_buckets.empty() ||
        !sections[handed_over].final_buckets.empty()) {
      RETURN_IF_ERROR(program.section_event(handed_over).Wait());
    }
    worked();
    RETURN_IF_ERROR(HandOver(sections[handed_over], strategy));
  }
  return absl::OkStatus();
}

}  // namespace paceline
