#include "common/callback/callback_list.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/object_reader.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

std::string ListText(const std::vector<std::string>& names) {
  return names.empty() ? "no callbacks"
                       : absl::StrCat("callbacks ", absl::StrJoin(names, ", "));
}

}  // namespace

Decision CallbackList::EpochBegan(const EpochStart& start) {
  Decision decision;
  for (const auto& callback : callbacks_) callback->EpochBegan(start, decision);
  return decision;
}

Decision CallbackList::EpochEnded(EpochEnd end) {
  Decision decision;
  for (const auto& callback : callbacks_) callback->EpochEnded(end, decision);
  return decision;
}

Decision CallbackList::TrainingEnded() {
  Decision decision;
  for (const auto& callback : callbacks_) callback->TrainingEnded(decision);
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
