#include "worker/trace/replica_trace.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace paceline {

ReplicaTrace::ReplicaTrace(TraceRecorder& recorder, std::string name,
                           ProfileBatch steps, std::function<void()> done)
    : recorder_(recorder),
      name_(std::move(name)),
      steps_(steps),
      done_(std::move(done)) {
  AddLane(name_);
}

TraceLane& ReplicaTrace::AddLane(absl::string_view name) {
  return *lanes_.emplace_back(&recorder_.AddLane(name));
}

void ReplicaTrace::Waits() {
  if (!waits_since_) waits_since_ = lane().Now();
}

void ReplicaTrace::BeginStep(int64_t step) {
  step_ = step;
  const bool is_on = steps_.Contains(step);
  Switch(is_on);
  if (is_on && waits_since_) {
    lane().Add("wait for data", *waits_since_, lane().Now());
  }
  if (step > steps_.last) End();
}

void ReplicaTrace::BeginOther() {
  waits_since_.reset();
  Switch(false);
  if (step_ >= steps_.last) End();
}

void ReplicaTrace::EndStep() {
  if (lane().is_on() && waits_since_) {
    lane().Add(absl::StrCat("step ", step_), *waits_since_, lane().Now());
  }
  waits_since_.reset();
}

void ReplicaTrace::End() {
  Switch(false);
  if (const auto done = std::exchange(done_, nullptr)) done();
}

void ReplicaTrace::Switch(bool is_on) {
  for (TraceLane* const lane : lanes_) lane->Switch(is_on);
}

}  // namespace paceline
