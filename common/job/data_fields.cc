// The field tables of a job's data.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/config/message_fields.h"
#include "common/data_source/sources.h"
#include "common/job/dataset_reading.h"
#include "common/job/job_fields.h"
#include "common/job/objective_fields.h"
#include "common/limits.h"

namespace paceline::v1 {

absl::Span<const EnumName<OnDataError>> EnumNames(OnDataError) {
  static constexpr EnumName<OnDataError> kNames[] = {
      {ON_DATA_ERROR_UNSPECIFIED, "fail"}, {ON_DATA_ERROR_SKIP, "skip"}};
  return kNames;
}

absl::Span<const EnumName<AutoShardPolicy>> EnumNames(AutoShardPolicy) {
  static constexpr EnumName<AutoShardPolicy> kNames[] = {
      {AUTO_SHARD_POLICY_UNSPECIFIED, "auto"},
      {AUTO_SHARD_POLICY_DATA, "data"},
      {AUTO_SHARD_POLICY_FILE, "file"},
      {AUTO_SHARD_POLICY_OFF, "off"}};
  return kNames;
}

namespace {

// `shuffle`: whether to shuffle, and the size of the shuffle buffer in
// examples; 0: the whole set.
struct Shuffle {
  bool is_on = false;
  int64_t buffer_size = 0;
};

absl::Status ReadConfig(const Value& value, const Path& path, Shuffle& out) {
  if (value.kind() == Value::Kind::kBool) {
    out.is_on = value.as_bool();
    return absl::OkStatus();
  }
  if (!value.is_number()) {
    return WrongType(value, path, "true, false or the size of a buffer");
  }
  out.is_on = true;
  RETURN_IF_ERROR(Codec<int64_t>::Read(value, path, out.buffer_size));
  return Apply(AtLeast(1), value, path);
}

Value WriteConfig(const Shuffle& shuffle) {
  if (shuffle.buffer_size > 0) return shuffle.buffer_size;
  return shuffle.is_on;
}

std::string ConfigType(const Shuffle*) { return "bool or integer"; }

Accessors<Dataset, Shuffle> ShuffleAccessors() {
  return {[](const Dataset& dataset) {
            return Shuffle{dataset.shuffle(),
                           static_cast<int64_t>(dataset.shuffle_buffer_size())};
          },
          [](Dataset& dataset, Shuffle shuffle) {
            dataset.set_shuffle(shuffle.is_on);
            dataset.set_shuffle_buffer_size(shuffle.buffer_size);
          }};
}

// Where examples are kept once they have been read: "memory", or the path of a
// file; "": nowhere.
struct Cache {
  std::string where;
};

constexpr char kNoCache[] = "none";

absl::Status ReadConfig(const Value& value, const Path& path, Cache& out) {
  if (!value.is_string()) {
    return WrongType(value, path, "none, memory or the path of a file");
  }
  if (value.as_string().empty()) {
    return ConfigError(path,
                       "is empty; expected none, memory or the path of a file");
  }
  out.where = value.as_string() == kNoCache ? "" : value.as_string();
  return absl::OkStatus();
}

Value WriteConfig(const Cache& cache) {
  return cache.where.empty() ? kNoCache : cache.where;
}

std::string ConfigType(const Cache*) { return "`none`, `memory` or path"; }

Accessors<Dataset, Cache> CacheAccessors() {
  return {[](const Dataset& dataset) { return Cache{dataset.cache()}; },
          [](Dataset& dataset, Cache cache) {
            dataset.set_cache(std::move(cache.where));
          }};
}

// Of a number that the message does not have if it is the default.
Accessors<Dataset, int64_t> WithDefault(int64_t (*get)(const Dataset&),
                                        void (Dataset::*set)(uint32_t),
                                        uint32_t default_value) {
  return {get, [=](Dataset& dataset, int64_t value) {
            (dataset.*set)(value == default_value ? 0 : value);
          }};
}

std::vector<Field<Dataset>> DatasetFields() {
  std::vector<Field<Dataset>> fields = SourceFields();
  fields.insert(
      fields.end(),
      {Optional("scale", Scalar(&Dataset::scale, &Dataset::set_scale),
                "Factor applied to each feature, after the steps."),
       WrittenUnlessDefault(Optional(
           "steps", Repeated(&Dataset::steps, &Dataset::mutable_steps),
           "What happens to each example, in order: preprocessing layers of "
           "Keras, `RandomFlip: {mode: horizontal}`. Random steps draw anew in "
           "each pass over the data, and are left out of what "
           "`validation_split` takes.")),
       WrittenUnlessDefault(Optional(
           "cache", CacheAccessors(),
           "Where the examples that have been read are kept, before `steps`. "
           "Pays for images and texts, which are decoded anew otherwise. "
           "`memory`: in each task. A path: in a file, relative to the job "
           "file's folder, which later runs and the tasks of a machine share; "
           "it has the decoded values of all examples in the end. If the files "
           "of the data have other sizes or times of modification since, the "
           "job is refused.")),
       WrittenUnlessDefault(Optional(
           "on_error", Scalar(&Dataset::on_error, &Dataset::set_on_error),
           "What an example that cannot be read does: `fail` ends the job; "
           "with `skip` the next one that can be read stands in for it; the "
           "logs of workers name those, and the job tells how many there were "
           "in each epoch.")),
       WrittenUnlessDefault(Optional(
           "drop_remainder",
           Scalar(&Dataset::drop_remainder, &Dataset::set_drop_remainder),
           "Whether each pass leaves out its last batch if that is smaller "
           "than the others.")),
       WrittenUnlessDefault(Optional(
           "repeat",
           WithDefault(RepeatOf, &Dataset::set_repeat, kDefaultRepeat),
           Between(1, limits::kMaxRepeat),
           "Of `train` alone: passes over the examples in an epoch, one after "
           "the other, so that a batch may have the end of one and the start "
           "of the next; with `drop_remainder` each is cut. Random steps draw "
           "anew in each. `steps_per_epoch` repeats the data as needed, so a "
           "job has one of the two.")),
       WrittenUnlessDefault(Optional(
           "prefetch",
           WithDefault(PrefetchOf, &Dataset::set_prefetch, kDefaultPrefetch),
           Between(1, limits::kMaxPrefetch),
           "Batches that each replica has ready, at most, before the model "
           "asks for them; it holds one more in memory. How many threads make "
           "them is found out as the job runs.")),
       Optional("shuffle", ShuffleAccessors(),
                "Whether the order changes with every epoch: `true` permutes "
                "the whole set, a number is the size of Keras' buffer."),
       WrittenUnlessDefault(Optional(
           "auto_shard_policy",
           Scalar(&Dataset::auto_shard_policy, &Dataset::set_auto_shard_policy),
           "Of `train` alone: how replicas divide the examples, as tf.data's "
           "AutoShardPolicy says. `data`, as `auto`: they take different "
           "examples of one order. `file`: each takes those of files of its "
           "own, of which there must be at least as many as replicas, and what "
           "others have left when these are used up; under asynchronous "
           "parameter servers the examples of a file follow each other, and "
           "any number of files will do. `off`: each "
           "takes all, in an order of its own, so an epoch has each example "
           "as often as there are replicas."))});
  return fields;
}

}  // namespace

const FieldTable<Dataset>& FieldsOf(const Dataset*) {
  static const auto& table = *new FieldTable<Dataset>(
      "dataset", "A set of examples: one source, and how it is read.",
      DatasetFields(), [] {
        Dataset dataset;
        dataset.set_scale(1);
        return dataset;
      });
  return table;
}

const FieldTable<Data>& FieldsOf(const Data*) {
  static const auto& table = *new FieldTable<Data>(
      "data",
      "The sets of examples of a job. Their files are paths, relative to the "
      "job file's folder, or URLs: `http://`, `https://` or `s3://`, with "
      "`#sha256=…` at the end if the content must have that hash.",
      {Required("train",
                Inner(&Data::has_train, &Data::train, &Data::mutable_train),
                "Trained on."),
       Optional("validation",
                Inner(&Data::has_validation, &Data::validation,
                      &Data::mutable_validation),
                "Evaluated after each epoch."),
       Optional("validation_split",
                Scalar(&Data::validation_split, &Data::set_validation_split),
                Within(0, 1),
                "Share of `train`, taken from its end, that validates, as in "
                "Keras' `fit`: data that is sorted by class has its last "
                "classes there. So `images` is refused, unless its own "
                "`validation_split`, which shuffles by a seed, came before."),
       Optional("test",
                Inner(&Data::has_test, &Data::test, &Data::mutable_test),
                "Evaluated once, at the end.")});
  return table;
}

}  // namespace paceline::v1
