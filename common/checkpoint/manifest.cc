#include "common/checkpoint/manifest.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/checkpoint_folder.h"
#include "common/checkpoint/object_reader.h"
#include "common/limits.h"
#include "common/safetensors/safetensors.h"
#include "glog/logging.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

using nlohmann::json;

constexpr char kFormat[] = "paceline-checkpoint";
constexpr int64_t kVersion = 1;

std::string ManifestPath(const std::string& folder) {
  return folder + "/manifest.json";
}

// --- Writing -----------------------------------------------------------------

json TrainedToJson(const v1::Job& trained) {
  std::string text;
  const auto status =
      google::protobuf::util::MessageToJsonString(trained, &text);
  CHECK(status.ok()) << status.message();
  return json::parse(text);
}

json ToJson(const Manifest& manifest) {
  json shards = json::array();
  for (const ShardFile& shard : manifest.shards) {
    shards.push_back({{"file", shard.file},
                      {"size_bytes", shard.size_bytes},
                      {"crc32", shard.crc32},
                      {"step", shard.step}});
  }
  json variables = json::array();
  for (const StoredVariable& variable : manifest.variables) {
    json parts = json::array();
    for (const StoredPart& part : variable.parts) {
      parts.push_back({{"shard", part.shard},
                       {"begin", part.begin},
                       {"count", part.count}});
    }
    variables.push_back({{"name", variable.name},
                         {"shape", variable.shape},
                         {"parts", std::move(parts)}});
  }
  json job = {{"name", manifest.job_name},
              {"fingerprint", manifest.job_fingerprint}};
  if (!manifest.phase.empty()) job["phase"] = manifest.phase;
  json document = {{"format", kFormat},
                   {"trained", TrainedToJson(manifest.trained)},
                   {"version", kVersion},
                   {"job", std::move(job)},
                   {"step", manifest.step},
                   {"dtype", std::string(SafetensorsDtype(manifest.type))},
                   {"slots", manifest.slot_names},
                   {"shards", std::move(shards)},
                   {"variables", std::move(variables)},
                   {"session", *manifest.session}};
  if (!manifest.kept.empty()) document["kept"] = manifest.kept;
  return document;
}

absl::Status CheckShardFile(const std::string& folder, const ShardFile& shard) {
  const std::string path = absl::StrCat(folder, "/", shard.file);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    return absl::NotFoundError(absl::StrCat(
        "the shard's file ", path, " is not there (", error.message(),
        "); the folder must be on a file system that the leader "
        "and all parameter servers share"));
  }
  if (static_cast<int64_t>(size) != shard.size_bytes) {
    return absl::DataLossError(absl::StrCat(
        path, " has ", size, " bytes; its shard wrote ", shard.size_bytes));
  }
  return absl::OkStatus();
}

// --- Reading -----------------------------------------------------------------

absl::StatusOr<ShardFile> ReadShard(const ObjectReader& reader) {
  ShardFile shard;
  ASSIGN_OR_RETURN(shard.file, reader.String("file"));
  if (!IsFileName(shard.file)) return reader.Error("file", kExpectedFileName);
  ASSIGN_OR_RETURN(shard.size_bytes,
                   reader.Count("size_bytes", limits::kMaxToldBytes));
  ASSIGN_OR_RETURN(const int64_t crc32, reader.Count("crc32", UINT32_MAX));
  shard.crc32 = static_cast<uint32_t>(crc32);
  ASSIGN_OR_RETURN(shard.step, reader.Count("step", limits::kMaxSteps));
  return shard;
}

absl::StatusOr<StoredVariable> ReadVariable(const json& object,
                                            const std::string& where,
                                            int64_t shard_count) {
  const ObjectReader reader(object, where);
  StoredVariable variable;
  ASSIGN_OR_RETURN(variable.name, reader.String("name"));
  ASSIGN_OR_RETURN(const json* shape, reader.List("shape"));
  if (shape->size() > size_t{limits::kMaxRank}) {
    return reader.Error("shape",
                        absl::StrCat("at most ", limits::kMaxRank, " sizes"));
  }
  int64_t elements = 1;
  for (const json& size : *shape) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() == 0 ||
        size.get<uint64_t>() > uint64_t{limits::kMaxElements} ||
        __builtin_mul_overflow(elements, size.get<int64_t>(), &elements) ||
        elements > limits::kMaxElements) {
      return reader.Error("shape", "sizes of a possible variable");
    }
    variable.shape.push_back(size.get<int64_t>());
  }
  const int64_t row =
      variable.shape.empty() ? 1 : elements / variable.shape.front();
  ASSIGN_OR_RETURN(const json* parts, reader.List("parts"));
  int64_t next = 0;
  for (size_t i = 0; i < parts->size(); ++i) {
    const ObjectReader part_reader((*parts)[i],
                                   absl::StrCat(where, "parts[", i, "]."));
    StoredPart part;
    ASSIGN_OR_RETURN(const int64_t shard,
                     part_reader.Count("shard", shard_count - 1));
    part.shard = static_cast<int>(shard);
    ASSIGN_OR_RETURN(part.begin, part_reader.Count("begin", elements));
    ASSIGN_OR_RETURN(part.count,
                     part_reader.Count("count", elements - part.begin));
    if (part.begin != next || part.count == 0 || part.count % row != 0) {
      return part_reader.Error("begin", "parts of whole rows in order");
    }
    next += part.count;
    variable.parts.push_back(part);
  }
  if (next != elements) return reader.Error("parts", "the whole variable");
  return variable;
}

// Earlier releases did not write it.
absl::StatusOr<v1::Job> ReadTrained(const ObjectReader& reader,
                                    const json& document) {
  v1::Job trained;
  if (!document.contains("trained")) return trained;
  ASSIGN_OR_RETURN(const json* object, reader.Object("trained"));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  if (!google::protobuf::util::JsonStringToMessage(object->dump(), &trained,
                                                   options)
           .ok()) {
    return reader.Error("trained", "a job's model, as protobuf JSON");
  }
  return trained;
}

absl::StatusOr<DataType> ReadType(const ObjectReader& reader) {
  ASSIGN_OR_RETURN(const std::string dtype, reader.String("dtype"));
  for (DataType type : {DataType::kFloat32, DataType::kFloat64}) {
    if (dtype == SafetensorsDtype(type)) return type;
  }
  return reader.Error("dtype", "F32 or F64");
}

absl::Status CheckVersion(const ObjectReader& reader) {
  ASSIGN_OR_RETURN(const std::string format, reader.String("format"));
  if (format != kFormat) return reader.Error("format", kFormat);
  ASSIGN_OR_RETURN(const int64_t version, reader.Count("version", INT64_MAX));
  if (version != kVersion) {
    return absl::UnimplementedError(
        absl::StrCat("version: the checkpoint has format version ", version,
                     "; this program reads version ", kVersion));
  }
  return absl::OkStatus();
}

absl::StatusOr<json> ParseManifest(const std::string& text,
                                   const std::string& path) {
  bool is_too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t, const json&) {
    is_too_deep |= depth > limits::kMaxManifestDepth;
    return !is_too_deep;
  };
  json document = json::parse(text, watch, /*allow_exceptions=*/false);
  if (is_too_deep) {
    return absl::DataLossError(absl::StrCat(
        path, " is damaged: its values are nested more than ",
        limits::kMaxManifestDepth, " deep; expected at most that"));
  }
  if (!document.is_object()) {
    return absl::DataLossError(
        absl::StrCat(path, " is damaged: it is no JSON object"));
  }
  return document;
}

absl::StatusOr<Manifest> FromJson(const json& document) {
  const ObjectReader reader(document, "");
  RETURN_IF_ERROR(CheckVersion(reader));
  Manifest manifest;
  ASSIGN_OR_RETURN(const json* job, reader.Object("job"));
  const ObjectReader job_reader(*job, "job.");
  ASSIGN_OR_RETURN(manifest.job_name, job_reader.String("name"));
  ASSIGN_OR_RETURN(manifest.job_fingerprint, job_reader.String("fingerprint"));
  if (job->contains("phase")) {
    ASSIGN_OR_RETURN(manifest.phase, job_reader.String("phase"));
  }
  ASSIGN_OR_RETURN(manifest.trained, ReadTrained(reader, document));
  ASSIGN_OR_RETURN(manifest.step, reader.Count("step", limits::kMaxSteps));
  ASSIGN_OR_RETURN(manifest.type, ReadType(reader));

  ASSIGN_OR_RETURN(const json* slots, reader.List("slots"));
  for (const json& slot : *slots) {
    if (!slot.is_string()) return reader.Error("slots", "strings");
    manifest.slot_names.push_back(slot.get<std::string>());
  }
  ASSIGN_OR_RETURN(const json* shards, reader.List("shards"));
  if (shards->empty() || shards->size() > size_t{limits::kMaxTasks}) {
    return reader.Error("shards",
                        absl::StrCat("1 to ", limits::kMaxTasks, " files"));
  }
  for (size_t i = 0; i < shards->size(); ++i) {
    ASSIGN_OR_RETURN(
        manifest.shards.emplace_back(),
        ReadShard({(*shards)[i], absl::StrCat("shards[", i, "].")}));
  }
  ASSIGN_OR_RETURN(const json* variables, reader.List("variables"));
  std::set<std::string> names;
  for (size_t i = 0; i < variables->size(); ++i) {
    ASSIGN_OR_RETURN(
        StoredVariable variable,
        ReadVariable((*variables)[i], absl::StrCat("variables[", i, "]."),
                     static_cast<int64_t>(shards->size())));
    if (!names.insert(variable.name).second) {
      return reader.Error("variables", "unique names");
    }
    manifest.variables.push_back(std::move(variable));
  }
  if (document.contains("kept")) {
    ASSIGN_OR_RETURN(manifest.kept, reader.String("kept"));
    if (!CheckCheckpointName(manifest.kept).ok()) {
      return reader.Error("kept", "the name of a checkpoint's folder");
    }
  }
  ASSIGN_OR_RETURN(const json* session, reader.Object("session"));
  manifest.session = std::make_shared<const json>(*session);
  return manifest;
}

}  // namespace

absl::Status WriteManifest(const std::string& folder,
                           const Manifest& manifest) {
  CHECK(manifest.session != nullptr);
  for (const ShardFile& shard : manifest.shards) {
    RETURN_IF_ERROR(CheckShardFile(folder, shard));
  }
  const std::string path = ManifestPath(folder);
  const std::string text = ToJson(manifest).dump(1) + "\n";
  if (text.size() > size_t{limits::kMaxHeaderBytes}) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, " would have ", text.size(),
                     " bytes; readers take at most ", limits::kMaxHeaderBytes));
  }
  return WriteFileAtomically(path, text);
}

absl::StatusOr<Manifest> ReadManifest(const std::string& folder) {
  const std::string path = ManifestPath(folder);
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(path, limits::kMaxHeaderBytes));
  ASSIGN_OR_RETURN(const json document, ParseManifest(text, path));
  absl::StatusOr<Manifest> manifest = FromJson(document);
  if (!manifest.ok()) {
    return Annotate(manifest.status(), absl::StrCat("cannot use ", path));
  }
  return manifest;
}

}  // namespace paceline
