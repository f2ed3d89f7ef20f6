#include "common/session/machine/saved_session.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/callback/output_path.h"
#include "common/checkpoint/object_reader.h"
#include "common/config/path.h"
#include "common/limits.h"
#include "common/optimizer/learning_rate.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

constexpr char kSwappedValues[] = "swapped";
constexpr char kAverageValues[] = "averages";

json NumberToJson(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json NumbersToJson(const std::vector<double>& values) {
  json array = json::array();
  for (const double value : values) array.push_back(NumberToJson(value));
  return array;
}

// Logs are an array of pairs, since their order matters.
json LogsToJson(const Logs& logs) {
  json array = json::array();
  for (const auto& [name, value] : logs) {
    array.push_back(json::array({name, NumberToJson(value)}));
  }
  return array;
}

// The path, whether the file has only weights, and which values if not each its
// own.
json SaveToJson(const SaveModel& save) {
  json entry = json::array({save.path, save.is_weights_only});
  if (save.values == SavedValues::kSwapped) entry.push_back(kSwappedValues);
  if (save.values == SavedValues::kAverages) entry.push_back(kAverageValues);
  return entry;
}

// A model's file is an array, and what goes to an event file an object.
json SaveToJson(const CheckpointOutput& save) {
  if (const auto* const model = std::get_if<SaveModel>(&save)) {
    return SaveToJson(*model);
  }
  const auto& weights = std::get<WriteWeights>(save);
  return {{"folder", weights.folder},
          {"step", weights.step},
          {"has_images", weights.has_images}};
}

json EpochToJson(const EpochRecord& record) {
  return {{"epoch", record.epoch},
          {"logs", LogsToJson(record.logs)},
          {"validation_logs", LogsToJson(record.validation_logs)},
          {"learning_rate", NumberToJson(record.learning_rate)},
          {"steps", record.steps},
          {"examples", record.examples},
          {"skipped_examples", record.skipped_examples},
          {"skipped_validation_examples", record.skipped_validation_examples},
          {"seconds", record.seconds}};
}

// --- Reading -----------------------------------------------------------------

absl::StatusOr<Logs> ReadLogs(const ObjectReader& reader, const char* key) {
  ASSIGN_OR_RETURN(const json* list, reader.List(key));
  Logs logs;
  for (const json& entry : *list) {
    const bool is_pair = entry.is_array() && entry.size() == 2 &&
                         entry[0].is_string() &&
                         (entry[1].is_number() || entry[1].is_null());
    if (!is_pair) return reader.Error(key, "pairs of a name and a number");
    const double value = entry[1].is_null()
                             ? std::numeric_limits<double>::quiet_NaN()
                             : entry[1].get<double>();
    logs.emplace_back(entry[0].get<std::string>(), value);
  }
  return logs;
}

// Reads how many of `examples` were left out. Checkpoints of earlier releases
// do not say.
absl::StatusOr<int64_t> ReadSkipped(const ObjectReader& reader, const char* key,
                                    int64_t examples) {
  return reader.Has(key) ? reader.Count(key, examples) : 0;
}

// Reads the record of epoch number `epoch`.
absl::StatusOr<EpochRecord> ReadRecord(const ObjectReader& reader, int epoch) {
  EpochRecord record;
  record.epoch = epoch;
  RETURN_IF_ERROR(reader.Count("epoch", epoch, epoch).status());
  ASSIGN_OR_RETURN(record.logs, ReadLogs(reader, "logs"));
  ASSIGN_OR_RETURN(record.validation_logs, ReadLogs(reader, "validation_logs"));
  ASSIGN_OR_RETURN(record.learning_rate, reader.Number("learning_rate"));
  ASSIGN_OR_RETURN(record.steps, reader.Count("steps", limits::kMaxSteps));
  ASSIGN_OR_RETURN(record.examples,
                   reader.Count("examples", limits::kMaxExamples));
  ASSIGN_OR_RETURN(record.skipped_examples,
                   ReadSkipped(reader, "skipped_examples", record.examples));
  ASSIGN_OR_RETURN(
      record.skipped_validation_examples,
      ReadSkipped(reader, "skipped_validation_examples", limits::kMaxExamples));
  ASSIGN_OR_RETURN(record.seconds, reader.Duration("seconds"));
  return record;
}

// Reads the records of the `count` epochs from `first`.
absl::StatusOr<std::vector<EpochRecord>> ReadHistory(const ObjectReader& reader,
                                                     int first, int count) {
  ASSIGN_OR_RETURN(const json* list, reader.List("history"));
  if (list->size() != static_cast<size_t>(count)) {
    return reader.Error("history",
                        absl::StrCat(count, " entries, one an epoch"));
  }
  std::vector<EpochRecord> history;
  for (int i = 0; i < count; ++i) {
    const ObjectReader entry((*list)[i],
                             reader.Below(absl::StrCat("history[", i, "]")));
    ASSIGN_OR_RETURN(history.emplace_back(), ReadRecord(entry, first + i));
  }
  return history;
}

// Reads ranges of positions in an epoch of `examples`, which must be ascending
// and not touch.
absl::StatusOr<std::vector<ExampleRange>> ReadRemaining(
    const ObjectReader& reader, int64_t examples) {
  ASSIGN_OR_RETURN(const json* list, reader.List("remaining"));
  std::vector<ExampleRange> ranges;
  int64_t last = 0;
  for (const json& entry : *list) {
    const bool is_pair = entry.is_array() && entry.size() == 2 &&
                         entry[0].is_number_integer() &&
                         entry[1].is_number_integer();
    ExampleRange range;
    if (is_pair) range = {entry[0].get<int64_t>(), entry[1].get<int64_t>()};
    if (!is_pair || range.begin < last || range.end <= range.begin ||
        range.end > examples) {
      return reader.Error("remaining",
                          absl::StrCat("ranges [begin, end] of 0 to ", examples,
                                       ", in order, that do not overlap"));
    }
    last = range.end;
    ranges.push_back(range);
  }
  return ranges;
}

// Checkpoints without `states` have the total and the count of each value;
// these values are all means.
absl::StatusOr<std::vector<double>> ReadStates(const ObjectReader& reader) {
  absl::StatusOr<std::vector<double>> read = reader.Numbers("states");
  if (read.ok() || !reader.List("totals").ok()) return read;
  ASSIGN_OR_RETURN(const std::vector<double> totals, reader.Numbers("totals"));
  ASSIGN_OR_RETURN(const std::vector<double> counts, reader.Numbers("counts"));
  if (totals.size() != counts.size()) {
    return reader.Error(
        "counts",
        absl::StrCat(totals.size(), " numbers, as many as there are totals"));
  }
  std::vector<double> states;
  for (size_t i = 0; i < totals.size(); ++i) {
    states.push_back(totals[i]);
    states.push_back(counts[i]);
  }
  return states;
}

// Reads the totals of a pass over `examples`; the job has taken `steps` in all.
absl::StatusOr<PassTotals> ReadCounted(const ObjectReader& reader,
                                       int64_t examples, int64_t steps) {
  PassTotals counted;
  ASSIGN_OR_RETURN(counted.examples, reader.Count("examples", examples));
  // Each step has at least one example.
  ASSIGN_OR_RETURN(counted.steps,
                   reader.Count("steps", std::min(steps, counted.examples)));
  ASSIGN_OR_RETURN(counted.skipped_examples,
                   ReadSkipped(reader, "skipped_examples", counted.examples));
  ASSIGN_OR_RETURN(counted.states, ReadStates(reader));
  return counted;
}

// Whether a callback can have said that it writes there.
bool IsOutputPath(const std::string& text) {
  const absl::StatusOr<std::string> path = OutputPath(text, Path());
  return path.ok() && *path == text;
}

absl::StatusOr<WriteWeights> ReadWriteWeights(const json& entry,
                                              const std::string& where) {
  const ObjectReader reader(entry, where);
  WriteWeights weights;
  ASSIGN_OR_RETURN(weights.folder, reader.String("folder"));
  if (!IsOutputPath(weights.folder)) {
    return reader.Error("folder", "a folder below the output folder");
  }
  ASSIGN_OR_RETURN(weights.step,
                   reader.Count("step", std::numeric_limits<int>::max()));
  ASSIGN_OR_RETURN(weights.has_images, reader.Bool("has_images"));
  return weights;
}

std::optional<SavedValues> ReadValues(const json& value) {
  if (value == kSwappedValues) return SavedValues::kSwapped;
  if (value == kAverageValues) return SavedValues::kAverages;
  return std::nullopt;
}

absl::StatusOr<std::vector<CheckpointOutput>> ReadSaves(
    const ObjectReader& reader) {
  ASSIGN_OR_RETURN(const json* list, reader.List("saves"));
  std::vector<CheckpointOutput> saves;
  for (const json& entry : *list) {
    if (entry.is_object()) {
      ASSIGN_OR_RETURN(
          saves.emplace_back(),
          ReadWriteWeights(
              entry, reader.Below(absl::StrCat("saves[", saves.size(), "]"))));
      continue;
    }
    const bool has_both = entry.is_array() && entry.size() >= 2 &&
                          entry[0].is_string() && entry[1].is_boolean();
    SaveModel save;
    if (has_both) save = {entry[0].get<std::string>(), entry[1].get<bool>()};
    if (has_both && entry.size() > 2) {
      const std::optional<SavedValues> values = ReadValues(entry[2]);
      if (!values || entry.size() > 3) {
        return reader.Error(
            "saves",
            absl::StrCat("nothing after the path and the "
                         "boolean, or \"",
                         kSwappedValues, "\" or \"", kAverageValues, "\""));
      }
      save.values = *values;
    }
    if (!IsModelPath(save.path, save.is_weights_only) ||
        !IsOutputPath(save.path)) {
      return reader.Error("saves",
                          "pairs of a model's path below the output folder and "
                          "whether the file has only weights, or objects of "
                          "histograms");
    }
    saves.emplace_back(std::move(save));
  }
  return saves;
}

absl::Status CheckSum(const ObjectReader& reader, const SavedSession& saved) {
  int64_t examples = saved.counted.examples;
  for (const ExampleRange& range : saved.remaining) {
    examples += range.end - range.begin;
  }
  if (examples == saved.epoch_examples) return absl::OkStatus();
  return reader.Error(
      "remaining",
      absl::StrCat(saved.epoch_examples - saved.counted.examples,
                   " examples, those of the epoch that are not counted"));
}

// Whether training of an epoch has begun and is not over.
bool IsAmidEpoch(const SavedSession& saved) {
  return saved.counted.examples > 0 && !saved.remaining.empty();
}

// The next epoch to train from its begin, if `saved` is not amid one: an epoch
// may be left with its validation alone.
int NextEpoch(const SavedSession& saved) {
  return saved.remaining.empty() ? saved.epoch + 1 : saved.epoch;
}

// Whether a round begins with epoch number `epoch`.
bool BeginsRound(const SavedSession& session, int epoch) {
  if (session.round_examples == 0) return false;
  // 31 and 40 bits.
  return static_cast<__int128>(epoch) * session.epoch_examples %
             session.round_examples ==
         0;
}

// The same, or the order is the same for any number of replicas.
bool MayChangeReplicas(const SavedSession& session, int epoch) {
  return session.order_replicas == 0 || BeginsRound(session, epoch);
}

std::string DescribeOrder(const SavedSession& session) {
  return session.order_replicas == 0
             ? "is the same for any number of replicas"
             : absl::StrCat("is that of ", session.order_replicas, " replicas");
}

// Checks what of CheckGoesOn concerns the number of replicas.
absl::Status CheckOrder(const SavedSession& saved, const SavedSession& now,
                        int epochs) {
  if (saved.order_replicas == now.order_replicas || saved.stopped) {
    return absl::OkStatus();
  }
  const bool is_amid_epoch = IsAmidEpoch(saved);
  if (!is_amid_epoch) {
    const int next = NextEpoch(saved);
    const bool may_change =
        MayChangeReplicas(saved, next) && MayChangeReplicas(now, next);
    if (next >= epochs || may_change) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "data.train.auto_shard_policy: the checkpoint was taken in the middle "
      "of ",
      is_amid_epoch ? "an epoch" : "a pass over the examples", " whose order ",
      DescribeOrder(saved), "; that of the job now ", DescribeOrder(now)));
}

// Checks what of CheckGoesOn concerns the shuffle: what is left of an epoch, or
// of a round, depends on how the whole of it is shuffled.
absl::Status CheckShuffle(const SavedSession& saved, const SavedSession& now,
                          int epochs) {
  // Checkpoints of earlier releases do not say it.
  const bool is_known = !saved.shuffle.empty();
  if (!is_known || saved.shuffle == now.shuffle || saved.stopped) {
    return absl::OkStatus();
  }
  const bool is_amid_epoch = IsAmidEpoch(saved);
  if (!is_amid_epoch) {
    const int next = NextEpoch(saved);
    // Nor do they say this, unless the order depends on the replicas.
    const bool begins_round =
        saved.round_examples == 0 ||
        (BeginsRound(saved, next) && BeginsRound(now, next));
    if (next >= epochs || begins_round) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "data.train.shuffle: the checkpoint was taken in the middle of ",
      is_amid_epoch ? "an epoch whose examples"
                    : "a pass over the examples, which",
      " are shuffled ", PeerText(saved.shuffle),
      "; those of the job now are shuffled ", now.shuffle,
      "; expected the same `seed` and `shuffle`"));
}

}  // namespace

absl::Status CheckGoesOn(const SavedSession& saved, const SavedSession& now,
                         int epochs) {
  RETURN_IF_ERROR(CheckOrder(saved, now, epochs));
  RETURN_IF_ERROR(CheckShuffle(saved, now, epochs));
  if (saved.counted.examples == 0 ||
      saved.epoch_examples == now.epoch_examples) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the checkpoint was taken in the middle of an epoch of ",
      saved.epoch_examples, " examples; epochs of the job now have ",
      now.epoch_examples));
}

json ToJson(const SavedSession& saved) {
  json remaining = json::array();
  for (const ExampleRange& range : saved.remaining) {
    remaining.push_back(json::array({range.begin, range.end}));
  }
  json history = json::array();
  for (const EpochRecord& record : saved.history) {
    history.push_back(EpochToJson(record));
  }
  json saves = json::array();
  for (const CheckpointOutput& save : saved.saves) {
    saves.push_back(SaveToJson(save));
  }
  json value = {{"first_epoch", saved.first_epoch},
                {"epoch", saved.epoch},
                {"steps", saved.steps},
                {"next_lease_id", saved.next_lease_id},
                {"epoch_examples", saved.epoch_examples},
                {"remaining", remaining},
                {"counted",
                 {{"examples", saved.counted.examples},
                  {"steps", saved.counted.steps},
                  {"skipped_examples", saved.counted.skipped_examples},
                  {"states", NumbersToJson(saved.counted.states)}}},
                {"seconds", saved.seconds},
                {"history", history},
                {"begun", saved.begun},
                {"stopped", saved.stopped},
                {"stopped_by", saved.stopped_by},
                {"shuffle", saved.shuffle},
                {"round_examples", saved.round_examples},
                {"has_kept", saved.has_kept},
                {"is_final", saved.is_final},
                {"saves", saves},
                {"callbacks", saved.callbacks}};
  if (saved.learning_rate) value["learning_rate"] = *saved.learning_rate;
  if (saved.order_replicas > 0) value["order_replicas"] = saved.order_replicas;
  return value;
}

absl::StatusOr<SavedSession> SavedSessionFromJson(const json& value) {
  const ObjectReader reader(value, "session.");
  SavedSession saved;
  ASSIGN_OR_RETURN(const int64_t epoch,
                   reader.Count("epoch", std::numeric_limits<int>::max()));
  saved.epoch = static_cast<int>(epoch);
  // Jobs of earlier releases began with epoch 0.
  if (value.contains("first_epoch")) {
    ASSIGN_OR_RETURN(const int64_t first, reader.Count("first_epoch", epoch));
    saved.first_epoch = static_cast<int>(first);
  }
  ASSIGN_OR_RETURN(saved.steps, reader.Count("steps", limits::kMaxSteps));
  ASSIGN_OR_RETURN(const int64_t next_lease_id,
                   reader.Count("next_lease_id", limits::kMaxSteps, 1));
  saved.next_lease_id = static_cast<uint64_t>(next_lease_id);
  ASSIGN_OR_RETURN(saved.epoch_examples,
                   reader.Count("epoch_examples", limits::kMaxExamples, 1));
  ASSIGN_OR_RETURN(saved.remaining,
                   ReadRemaining(reader, saved.epoch_examples));
  ASSIGN_OR_RETURN(const json* counted, reader.Object("counted"));
  ASSIGN_OR_RETURN(saved.counted,
                   ReadCounted({*counted, reader.Below("counted")},
                               saved.epoch_examples, saved.steps));
  RETURN_IF_ERROR(CheckSum(reader, saved));
  ASSIGN_OR_RETURN(saved.seconds, reader.Duration("seconds"));
  ASSIGN_OR_RETURN(saved.history, ReadHistory(reader, saved.first_epoch,
                                              saved.epoch - saved.first_epoch));
  // Checkpoints of earlier releases have none of these.
  if (value.contains("order_replicas")) {
    ASSIGN_OR_RETURN(
        const int64_t replicas,
        reader.Count("order_replicas", std::numeric_limits<int>::max(), 1));
    saved.order_replicas = static_cast<int>(replicas);
  }
  if (value.contains("round_examples")) {
    ASSIGN_OR_RETURN(saved.round_examples,
                     reader.Count("round_examples", limits::kMaxExamples));
  }
  if (value.contains("learning_rate")) {
    ASSIGN_OR_RETURN(saved.learning_rate, reader.Number("learning_rate"));
    if (!IsLearningRate(*saved.learning_rate)) {
      return reader.Error("learning_rate", kLearningRates);
    }
  }
  if (value.contains("begun")) {
    ASSIGN_OR_RETURN(saved.begun, reader.Bool("begun"));
  }
  if (value.contains("stopped")) {
    ASSIGN_OR_RETURN(saved.stopped, reader.Bool("stopped"));
  }
  if (value.contains("stopped_by")) {
    ASSIGN_OR_RETURN(saved.stopped_by, reader.String("stopped_by"));
  }
  if (value.contains("shuffle")) {
    ASSIGN_OR_RETURN(saved.shuffle, reader.String("shuffle"));
  }
  if (value.contains("has_kept")) {
    ASSIGN_OR_RETURN(saved.has_kept, reader.Bool("has_kept"));
  }
  // Without it, a checkpoint after the last epoch is taken for the final one.
  saved.is_final = true;
  if (value.contains("is_final")) {
    ASSIGN_OR_RETURN(saved.is_final, reader.Bool("is_final"));
  }
  if (value.contains("saves")) {
    ASSIGN_OR_RETURN(saved.saves, ReadSaves(reader));
  }
  if (value.contains("callbacks")) saved.callbacks = value["callbacks"];
  return saved;
}

}  // namespace paceline
