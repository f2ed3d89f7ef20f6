#include "common/callback/callback.h"

#include "common/checkpoint/object_reader.h"
#include "common/config/path.h"
#include "nlohmann/json.hpp"

namespace paceline {

absl::Status Callback::Prepare(const CallbackContext& /*context*/,
                               const Path& /*path*/) {
  return absl::OkStatus();
}

void Callback::TrainingBegan(Decision& /*decision*/) {}

void Callback::EpochBegan(const EpochStart& /*start*/, Decision& /*decision*/) {
}

void Callback::BatchBegan(const BatchStart& /*start*/, Decision& /*decision*/) {
}

void Callback::BatchEnded(const BatchEnd& /*end*/, Decision& /*decision*/) {}

void Callback::ValidationBegan(int /*epoch*/, Decision& /*decision*/) {}

void Callback::ValidationBatchBegan(int /*epoch*/, int64_t /*batch*/,
                                    Decision& /*decision*/) {}

void Callback::ValidationBatchEnded(const ValidationBatchEnd& /*end*/,
                                    Decision& /*decision*/) {}

void Callback::ValidationEnded(int /*epoch*/, const Logs& /*logs*/,
                               Decision& /*decision*/) {}

void Callback::EpochEnded(EpochEnd& /*end*/, Decision& /*decision*/) {}

void Callback::TrainingEnded(Decision& /*decision*/) {}

void Callback::ImagesCame(const FirstImages& /*images*/,
                          Decision& /*decision*/) {}

void Callback::TraceCame(const std::string& /*task*/,
                         std::shared_ptr<const Trace> /*trace*/,
                         Decision& /*decision*/) {}

absl::Status Callback::Answered(const RunCommand& /*run*/,
                                const absl::StatusOr<std::string>& /*output*/,
                                Decision& /*decision*/) {
  return absl::OkStatus();
}

nlohmann::json Callback::Save() const { return nlohmann::json::object(); }

absl::Status Callback::Restore(const ObjectReader& /*state*/) {
  return absl::OkStatus();
}

}  // namespace paceline
