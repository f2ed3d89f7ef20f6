#include "common/job/job_phases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/keras_object.h"
#include "common/config/message_fields.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/job/backup.h"
#include "common/job/job_checks.h"
#include "common/job/objective_fields.h"
#include "common/job/trainable_layers.h"
#include "common/optimizer/make_optimizer.h"
#include "common/optimizer/optimizer.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace paceline {
namespace {

constexpr int kMaxPhases = 100;
constexpr double kMaxPhaseEpochs = std::numeric_limits<int32_t>::max();

Path PathOf(int index) { return Path("phases").Index(index); }

Accessors<v1::TrainingPhase, std::vector<std::string>> LayerNames(
    const google::protobuf::RepeatedPtrField<std::string>& (
        v1::TrainingPhase::*get)() const,
    google::protobuf::RepeatedPtrField<std::string>* (
        v1::TrainingPhase::*mutate)()) {
  return {[get](const v1::TrainingPhase& phase) {
            return std::vector<std::string>((phase.*get)().begin(),
                                            (phase.*get)().end());
          },
          [mutate](v1::TrainingPhase& phase,
                   const std::vector<std::string>& names) {
            (phase.*mutate)()->Assign(names.begin(), names.end());
          }};
}

// nullopt: the phase has the job's.
Accessors<v1::TrainingPhase, std::optional<std::vector<v1::KerasObject>>>
OwnCallbacks() {
  using Callbacks = std::optional<std::vector<v1::KerasObject>>;
  return {
      [](const v1::TrainingPhase& phase) -> Callbacks {
        if (!HasOwnCallbacks(phase)) return std::nullopt;
        return Callbacks({phase.callbacks().begin(), phase.callbacks().end()});
      },
      [](v1::TrainingPhase& phase, const Callbacks& callbacks) {
        if (!callbacks) return;
        phase.mutable_callbacks()->Assign(callbacks->begin(), callbacks->end());
        phase.set_without_callbacks(callbacks->empty());
      }};
}

// The error about a field of the job that each phase has for itself.
absl::Status OfPhases(absl::string_view field) {
  return ConfigError(
      Path(std::string(field)),
      "excludes `phases`, each of which has its own; expected none");
}

// The name is that of a folder, and unique.
absl::Status CheckPhaseName(const v1::Job& job, int index) {
  const std::string& name = job.phases(index).name();
  constexpr size_t kMaxName = 128;
  if (name.empty() || name.size() > kMaxName || name[0] == '.' ||
      absl::StrContains(name, '/') ||
      std::any_of(name.begin(), name.end(), absl::ascii_iscntrl)) {
    return ConfigError(
        PathOf(index).Key("name"),
        absl::StrCat("expected 1 to ", kMaxName,
                     " bytes without a slash, a control character or a leading "
                     "dot, got ",
                     Excerpt(Value(name))));
  }
  for (int other = 0; other < index; ++other) {
    if (job.phases(other).name() != name) continue;
    return ConfigError(PathOf(index).Key("name"),
                       absl::StrCat(Excerpt(Value(name)), " is that of phases[",
                                    other, "], too; expected another"));
  }
  return absl::OkStatus();
}

// Each name is compared with those of all layers, so the time needs a bound.
absl::Status CheckLayerNames(
    const google::protobuf::RepeatedPtrField<std::string>& names,
    const Path& path) {
  constexpr int kMaxNames = 256;
  constexpr size_t kMaxBytes = 256;
  if (names.size() > kMaxNames) {
    return ConfigError(path, absl::StrCat("expected at most ", kMaxNames,
                                          " names, got ", names.size()));
  }
  for (int i = 0; i < names.size(); ++i) {
    if (names[i].size() <= kMaxBytes) continue;
    return ConfigError(path.Index(i),
                       absl::StrCat("expected at most ", kMaxBytes,
                                    " bytes, got ", names[i].size()));
  }
  return absl::OkStatus();
}

absl::Status CheckPhase(const v1::Job& job, int index) {
  RETURN_IF_ERROR(CheckPhaseName(job, index));
  const v1::TrainingPhase& phase = job.phases(index);
  RETURN_IF_ERROR(
      CheckLayerNames(phase.trainable(), PathOf(index).Key("trainable")));
  RETURN_IF_ERROR(CheckLayerNames(phase.frozen(), PathOf(index).Key("frozen")));
  ASSIGN_OR_RETURN(const v1::Job one, JobOfPhase(job, index));
  if (const absl::Status status = CheckJob(one); !status.ok()) {
    return ConfigError(PathOf(index), status.message(), status.code());
  }
  if (index + 1 == job.phases_size()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<const Optimizer> optimizer,
                   MakeOptimizer(one.optimizer()));
  if (!optimizer->use_ema) return absl::OkStatus();
  return ConfigError(PathOf(index),
                     "its optimizer has use_ema: true, whose averages the next "
                     "phase would not get; expected it of the last phase only");
}

}  // namespace

namespace v1 {

const FieldTable<TrainingPhase>& FieldsOf(const TrainingPhase*) {
  static const auto& table = *new FieldTable<TrainingPhase>(
      "phase",
      "A part of the training, as a `compile` and a `fit` of Keras. What it "
      "does not say is as in the job.",
      {Optional("name",
                Text(&TrainingPhase::name, &TrainingPhase::mutable_name),
                "Name, unique in the job; by default `phase-1`, `phase-2`, and "
                "so on."),
       Optional("trainable",
                LayerNames(&TrainingPhase::trainable,
                           &TrainingPhase::mutable_trainable),
                "Names of layers that become trainable. That of a model stands "
                "for all layers in it, `base/conv1` is a layer of the model "
                "`base`, and `*` stands for any characters. Read before "
                "`frozen`."),
       Optional(
           "frozen",
           LayerNames(&TrainingPhase::frozen, &TrainingPhase::mutable_frozen),
           "Names of layers that become frozen, as in `trainable`."),
       Optional("optimizer",
                Inner(&TrainingPhase::has_optimizer, &TrainingPhase::optimizer,
                      &TrainingPhase::mutable_optimizer),
                "The optimizer; by default the job's. It begins anew."),
       Required("epochs",
                Whole(&TrainingPhase::epochs, &TrainingPhase::set_epochs),
                Between(1, kMaxPhaseEpochs), "The end of the last epoch."),
       Optional("initial_epoch",
                Whole(&TrainingPhase::initial_epoch,
                      &TrainingPhase::set_initial_epoch),
                Between(0, kMaxPhaseEpochs - 1),
                "The number, from 0, of the first epoch."),
       Optional("callbacks", OwnCallbacks(),
                "The callbacks, `[]` for none; by default the job's. They "
                "begin anew.")});
  return table;
}

}  // namespace v1

Field<v1::Job> PhasesField() {
  return WrittenUnlessDefault(Optional(
      "phases", Repeated(&v1::Job::phases, &v1::Job::mutable_phases),
      "Parts of the training one after the other, each with the variables of "
      "the one before, and with `epochs` of its own instead of the job's. The "
      "test set is evaluated, and the model written, after the last."));
}

void NamePhases(v1::Job& job) {
  for (int i = 0; i < job.phases_size(); ++i) {
    v1::TrainingPhase& phase = *job.mutable_phases(i);
    if (phase.name().empty()) phase.set_name(absl::StrCat("phase-", i + 1));
  }
}

bool HasOwnCallbacks(const v1::TrainingPhase& phase) {
  return phase.callbacks_size() > 0 || phase.without_callbacks();
}

absl::StatusOr<v1::Job> JobOfPhase(const v1::Job& job, int index) {
  const v1::TrainingPhase& phase = job.phases(index);
  v1::Job one = job;
  one.clear_phases();
  RETURN_IF_ERROR(
      SetTrainableLayers(phase, PathOf(index), *one.mutable_model()));
  one.set_epochs(phase.epochs());
  one.set_initial_epoch(phase.initial_epoch());
  if (phase.has_optimizer()) *one.mutable_optimizer() = phase.optimizer();
  one.clear_initial_iterations();
  if (index > 0) {
    one.clear_weights();
    one.clear_weights_by_name();
  }
  if (HasOwnCallbacks(phase)) {
    v1::Job own;
    *own.mutable_callbacks() = phase.callbacks();
    // The policy of the job's BackupAndRestore goes with it.
    if (BackupOf(own) || phase.without_callbacks()) DropBackupPolicy(one);
    *one.mutable_callbacks() = phase.callbacks();
    if (const absl::Status status = TakeBackupPolicy(one); !status.ok()) {
      return ConfigError(PathOf(index), status.message(), status.code());
    }
  }
  if (index + 1 == job.phases_size()) return one;
  one.mutable_data()->clear_test();
  if (!one.has_checkpoint()) {
    one.mutable_checkpoint()->set_every_epochs(phase.epochs());
    one.mutable_checkpoint()->set_keep(1);
  }
  return one;
}

absl::Status CheckPhases(const v1::Job& job) {
  if (job.phases_size() == 0) return absl::OkStatus();
  if (job.epochs() != 1) return OfPhases("epochs");
  if (job.initial_epoch() != 0) return OfPhases("initial_epoch");
  if (job.phases_size() > kMaxPhases) {
    return ConfigError(Path("phases"),
                       absl::StrCat("has ", job.phases_size(),
                                    " phases; expected at most ", kMaxPhases));
  }
  for (int i = 0; i < job.phases_size(); ++i) {
    RETURN_IF_ERROR(CheckPhase(job, i));
  }
  return absl::OkStatus();
}

absl::Status LeaveFieldsToPhases(Value& document) {
  const Value* const phases =
      document.is_map() ? document.Find("phases") : nullptr;
  if (phases == nullptr || !phases->is_list() || phases->as_list().empty()) {
    return absl::OkStatus();
  }
  for (const absl::string_view field : kFieldsOfPhases) {
    const Value* const value = document.Find(field);
    if (value != nullptr && !value->is_null()) return OfPhases(field);
    std::erase_if(document.as_map(), [field](const Value::Entry& entry) {
      return entry.key == field;
    });
  }
  return absl::OkStatus();
}

}  // namespace paceline
