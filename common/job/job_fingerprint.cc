#include "common/job/job_fingerprint.h"

#include <cstdint>
#include <filesystem>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "common/base/remote_url.h"
#include "common/job/job_files.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace paceline {
namespace {

void DropFolder(std::string& path) {
  if (const absl::StatusOr<RemoteUrl> url = ParseRemoteUrl(path); url.ok()) {
    path = url->FileName();
    return;
  }
  const std::filesystem::path parts(path);
  // That of a folder ends in "/".
  path = (parts.has_filename() ? parts : parts.parent_path()).filename();
}

// Deterministic serialisation, since the keys of Structs have no order
// otherwise.
std::string SerializeInOrder(const v1::Job& job) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    job.SerializeToCodedStream(&coded);
  }
  return bytes;
}

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv.
uint64_t Hash(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<uint8_t>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

// `data` is what `auto` means.
void ClearDefaultPolicy(v1::Dataset& train) {
  if (train.auto_shard_policy() == v1::AUTO_SHARD_POLICY_DATA) {
    train.clear_auto_shard_policy();
  }
}

// What changes no example.
void ClearSpeed(v1::Dataset& dataset) {
  dataset.clear_cache();
  dataset.clear_prefetch();
  if (dataset.repeat() == 1) dataset.clear_repeat();
}

void ClearSpeed(v1::Data& data) {
  if (data.has_train()) ClearSpeed(*data.mutable_train());
  if (data.has_validation()) ClearSpeed(*data.mutable_validation());
  if (data.has_test()) ClearSpeed(*data.mutable_test());
}

}  // namespace

std::string JobFingerprint(const v1::Job& job) {
  v1::Job same = job;
  same.clear_cluster();
  same.clear_evaluator();
  same.clear_verbose();
  same.clear_progress_style();
  if (same.has_data()) ClearSpeed(*same.mutable_data());
  if (same.data().has_train()) {
    ClearDefaultPolicy(*same.mutable_data()->mutable_train());
  }
  ChangeFiles(same, DropFolder);
  return absl::StrFormat("%016x", Hash(SerializeInOrder(same)));
}

}  // namespace paceline
