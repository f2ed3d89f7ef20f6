#include "common/callback/callback_list.h"

#include <algorithm>
#include <string>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/object_reader.h"
#include "glog/logging.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

std::string ListText(const std::vector<std::string>& names) {
  return names.empty() ? "no callbacks"
                       : absl::StrCat("callbacks ", absl::StrJoin(names, ", "));
}

// Call it after each callback.
void NameStopper(const Callback& callback, Decision& decision) {
  if (decision.stops_training && decision.stopped_by.empty()) {
    decision.stopped_by = std::string(callback.class_name());
  }
}

}  // namespace

bool CallbackList::hears_batches() const {
  return absl::c_any_of(callbacks_, [](const auto& callback) {
    return callback->hears_batches();
  });
}

bool CallbackList::hears_validation_batches() const {
  return absl::c_any_of(callbacks_, [](const auto& callback) {
    return callback->hears_validation_batches();
  });
}

bool CallbackList::restores_kept() const {
  return absl::c_any_of(callbacks_, [](const auto& callback) {
    return callback->restores_kept();
  });
}

bool CallbackList::swaps_averages() const {
  return absl::c_any_of(callbacks_, [](const auto& callback) {
    return callback->swaps_averages();
  });
}

std::optional<int64_t> CallbackList::steps_to_save() const {
  std::optional<int64_t> least;
  for (const auto& callback : callbacks_) {
    const std::optional<int64_t> steps = callback->steps_to_save();
    if (steps) least = std::min(least.value_or(*steps), *steps);
  }
  return least;
}

ProfileBatch CallbackList::traced_steps() const {
  for (const auto& callback : callbacks_) {
    if (callback->traced_steps().is_on()) return callback->traced_steps();
  }
  return {};
}

int64_t CallbackList::first_batch_images() const {
  int64_t most = 0;
  for (const auto& callback : callbacks_) {
    most = std::max(most, callback->first_batch_images());
  }
  return most;
}

Decision CallbackList::Tell(
    absl::FunctionRef<void(Callback&, Decision&)> event) {
  Decision decision;
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    size_t next = decision.outputs.size();
    event(*callbacks_[i], decision);
    NameStopper(*callbacks_[i], decision);
    for (; next < decision.outputs.size(); ++next) {
      auto* const run = std::get_if<RunCommand>(&decision.outputs[next]);
      if (run != nullptr) run->callback = i;
    }
  }
  return decision;
}

Decision CallbackList::TrainingBegan() {
  return Tell([](Callback& callback, Decision& decision) {
    callback.TrainingBegan(decision);
  });
}

Decision CallbackList::EpochBegan(const EpochStart& start) {
  return Tell([&](Callback& callback, Decision& decision) {
    callback.EpochBegan(start, decision);
  });
}

Decision CallbackList::BatchBegan(const BatchStart& start) {
  return Tell([&](Callback& callback, Decision& decision) {
    if (callback.hears_batches()) callback.BatchBegan(start, decision);
  });
}

Decision CallbackList::BatchEnded(const BatchEnd& end) {
  return Tell([&](Callback& callback, Decision& decision) {
    if (callback.hears_batches()) callback.BatchEnded(end, decision);
  });
}

Decision CallbackList::ValidationBegan(int epoch) {
  return Tell([&](Callback& callback, Decision& decision) {
    callback.ValidationBegan(epoch, decision);
  });
}

Decision CallbackList::ValidationBatchBegan(int epoch, int64_t batch) {
  return Tell([&](Callback& callback, Decision& decision) {
    if (callback.hears_validation_batches()) {
      callback.ValidationBatchBegan(epoch, batch, decision);
    }
  });
}

Decision CallbackList::ValidationBatchEnded(const ValidationBatchEnd& end) {
  return Tell([&](Callback& callback, Decision& decision) {
    if (callback.hears_validation_batches()) {
      callback.ValidationBatchEnded(end, decision);
    }
  });
}

Decision CallbackList::ValidationEnded(int epoch, const Logs& logs) {
  return Tell([&](Callback& callback, Decision& decision) {
    callback.ValidationEnded(epoch, logs, decision);
  });
}

Decision CallbackList::EpochEnded(EpochEnd end) {
  return Tell([&](Callback& callback, Decision& decision) {
    callback.EpochEnded(end, decision);
  });
}

Decision CallbackList::TrainingEnded() {
  return Tell([](Callback& callback, Decision& decision) {
    callback.TrainingEnded(decision);
  });
}

Decision CallbackList::ImagesCame(const FirstImages& images) {
  return Tell([&](Callback& callback, Decision& decision) {
    callback.ImagesCame(images, decision);
  });
}

Decision CallbackList::TraceCame(const std::string& task,
                                 const std::shared_ptr<const Trace>& trace) {
  return Tell([&](Callback& callback, Decision& decision) {
    callback.TraceCame(task, trace, decision);
  });
}

absl::StatusOr<Decision> CallbackList::Answered(
    const RunCommand& run, const absl::StatusOr<std::string>& output) {
  CHECK_LT(run.callback, callbacks_.size());
  Decision decision;
  RETURN_IF_ERROR(callbacks_[run.callback]->Answered(run, output, decision));
  NameStopper(*callbacks_[run.callback], decision);
  return decision;
}

json CallbackList::Save() const {
  json saved = json::array();
  for (const auto& callback : callbacks_) {
    saved.push_back({{"class_name", std::string(callback->class_name())},
                     {"state", callback->Save()}});
  }
  return saved;
}

absl::Status CallbackList::Restore(const json& saved,
                                   const std::string& where) {
  if (!saved.is_array()) {
    return absl::DataLossError(
        absl::StrCat(where, ": ", PeerText(saved.dump()), "; expected a list"));
  }
  std::vector<std::string> stored;
  for (size_t i = 0; i < saved.size(); ++i) {
    const ObjectReader reader(saved[i], absl::StrCat(where, "[", i, "]."));
    ASSIGN_OR_RETURN(stored.emplace_back(), reader.String("class_name"));
    RETURN_IF_ERROR(reader.Object("state").status());
  }
  std::vector<std::string> ours;
  for (const auto& callback : callbacks_) {
    ours.emplace_back(callback->class_name());
  }
  if (stored != ours) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": the checkpoint has the state of ", PeerText(ListText(stored)),
        "; the job has ", ListText(ours)));
  }
  for (size_t i = 0; i < saved.size(); ++i) {
    RETURN_IF_ERROR(callbacks_[i]->Restore(ObjectReader(
        saved[i]["state"], absl::StrCat(where, "[", i, "].state."))));
  }
  return absl::OkStatus();
}

}  // namespace paceline
