#include "common/job/data_checks.h"

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/config/check.h"
#include "common/config/path.h"
#include "common/data_source/sources.h"
#include "common/data_step/data_steps.h"
#include "common/job/dataset_reading.h"
#include "common/job/job_fields.h"
#include "common/job/job_files.h"
#include "common/limits.h"
#include "google/protobuf/util/message_differencer.h"

namespace paceline {
namespace {

absl::Status CheckCache(const std::string& cache, const Path& path) {
  if (cache.empty() || cache == kMemoryCache) return absl::OkStatus();
  const std::string name = std::filesystem::path(cache).filename().string();
  // Such a name without its folder would mean something else.
  const bool is_file = !name.empty() && name != "." && name != ".." &&
                       name != kMemoryCache && name != "none" &&
                       cache.find('\0') == std::string::npos;
  if (is_file && !IsRemote(cache)) return absl::OkStatus();
  return ConfigError(path, absl::StrCat(Excerpt(cache),
                                        "; expected none, memory or the path "
                                        "of a file, of another name"));
}

absl::Status CheckDataset(const v1::Dataset& dataset, const Path& path) {
  if (dataset.source_case() == v1::Dataset::SOURCE_NOT_SET) {
    return ConfigError(path,
                       absl::StrCat("no source; expected ", SourceExamples()));
  }
  if (dataset.on_error() == v1::ON_DATA_ERROR_SKIP && IsStream(dataset)) {
    return ConfigError(path.Key("on_error"),
                       "expected fail, since the source is a stream, which "
                       "cannot go on behind an error");
  }
  RETURN_IF_ERROR(CheckCache(dataset.cache(), path.Key("cache")));
  if (!v1::AutoShardPolicy_IsValid(dataset.auto_shard_policy())) {
    return ConfigError(
        path.Key("auto_shard_policy"),
        absl::StrCat(dataset.auto_shard_policy(),
                     "; expected a number of AutoShardPolicy, 0 to ",
                     v1::AutoShardPolicy_MAX));
  }
  RETURN_IF_ERROR(
      Apply(AtMost(limits::kMaxRepeat), RepeatOf(dataset), path.Key("repeat")));
  RETURN_IF_ERROR(Apply(AtMost(limits::kMaxPrefetch), PrefetchOf(dataset),
                        path.Key("prefetch")));
  return CheckSteps(dataset, path);
}

// CheckDataset for one that is evaluated.
absl::Status CheckEvaluated(const v1::Dataset& dataset, const Path& path) {
  RETURN_IF_ERROR(CheckDataset(dataset, path));
  if (RepeatOf(dataset) > 1) {
    return ConfigError(
        path.Key("repeat"),
        absl::StrCat(RepeatOf(dataset),
                     ": is of data.train alone, since each "
                     "example is evaluated once; expected none, or 1"));
  }
  const v1::AutoShardPolicy policy = dataset.auto_shard_policy();
  if (policy == v1::AUTO_SHARD_POLICY_UNSPECIFIED) return absl::OkStatus();
  return ConfigError(
      path.Key("auto_shard_policy"),
      absl::StrCat(Codec<v1::AutoShardPolicy>::Write(policy).as_string(),
                   ": is of data.train alone, since each example is evaluated "
                   "once; expected none, or auto"));
}

// Data sets that share a file of a cache must have the same examples.
absl::Status CheckSharedCaches(const v1::Data& data, const Path& path) {
  const std::pair<const char*, const v1::Dataset&> sets[] = {
      {"train", data.train()},
      {"validation", data.validation()},
      {"test", data.test()}};
  std::map<std::string, std::pair<const char*, v1::Dataset>> caches;
  for (const auto& [name, dataset] : sets) {
    if (!HasCacheFile(dataset)) continue;
    const std::string& cache = dataset.cache();
    const auto [other, is_new] = caches.try_emplace(
        std::filesystem::path(cache).lexically_normal().string(), name,
        SourceOnly(dataset));
    if (is_new || google::protobuf::util::MessageDifferencer::Equals(
                      other->second.second, SourceOnly(dataset))) {
      continue;
    }
    return ConfigError(
        path.Key(name).Key("cache"),
        absl::StrCat(Excerpt(cache), ": ", other->second.first,
                     " has it for another source; expected another file"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckData(const v1::Job& job) {
  const Path path("data");
  const v1::Data& data = job.data();
  if (!data.has_train()) return ConfigError(path.Key("train"), "is null");
  RETURN_IF_ERROR(CheckDataset(data.train(), path.Key("train")));
  if (data.train().shuffle() && IsStream(data.train())) {
    return ConfigError(path.Key("train").Key("shuffle"),
                       "expected false, since the source is a stream, whose "
                       "examples come in their order");
  }
  if (job.steps_per_epoch() > 0 && RepeatOf(data.train()) > 1) {
    return ConfigError(
        path.Key("train").Key("repeat"),
        absl::StrCat("expected 1, got ", RepeatOf(data.train()),
                     ", since steps_per_epoch, ", job.steps_per_epoch(),
                     ", repeats the data as needed"));
  }
  if (data.has_validation()) {
    RETURN_IF_ERROR(CheckEvaluated(data.validation(), path.Key("validation")));
    if (data.validation_split() > 0) {
      return ConfigError(path.Key("validation_split"),
                         "excludes data.validation; expected one of them");
    }
  }
  if (data.validation_split() > 0 && IsInOrderOfClasses(data.train())) {
    return ConfigError(
        path.Key("validation_split"),
        "takes the end of `train`, where a folder of images has its last "
        "classes alone; expected `validation_split`, `subset: training` and a "
        "`seed` in train.images, and a `validation` with the same images and "
        "`subset: validation`");
  }
  if (data.has_test()) {
    RETURN_IF_ERROR(CheckEvaluated(data.test(), path.Key("test")));
  }
  return CheckSharedCaches(data, path);
}

}  // namespace paceline
