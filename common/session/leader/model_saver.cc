#include "common/session/leader/model_saver.h"

#include <glog/logging.h>

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/export/export_checkpoint.h"

namespace paceline {

namespace {

absl::Status AddPath(const absl::Status& status, const std::string& path) {
  return Annotate(status, absl::StrCat("cannot save the model as ", path));
}

}  // namespace

absl::Status WriteSavedModel(const std::string& output_dir,
                             const std::string& folder, const SaveModel& save) {
  const std::string path = absl::StrCat(output_dir, "/", save.path);
  RETURN_IF_ERROR(
      AddPath(MakeDirectories(path.substr(0, path.rfind('/'))), path));
  return AddPath(
      ExportCheckpoint(folder, save.is_weights_only ? "weights" : "keras", path,
                       ExportedValues::kStored),
      path);
}

ModelSaver::~ModelSaver() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void ModelSaver::Begin(std::string folder, std::vector<SaveModel> saves,
                       std::function<void()> done) {
  if (is_closed_) return;
  CHECK(!thread_.joinable()) << "files are being written";
  saves_ = std::move(saves);
  done_ = std::move(done);
  {
    MutexLock lock(mutex_);
    is_written_ = false;
    results_.clear();
  }
  thread_ = std::thread([this, folder = std::move(folder), saves = saves_] {
    Write(folder, saves);
  });
}

void ModelSaver::GiveUp(const std::vector<SaveModel>& saves,
                        const absl::Status& reason) {
  for (const SaveModel& save : saves) {
    saved_(save, AddPath(reason, absl::StrCat(output_dir_, "/", save.path)));
  }
}

void ModelSaver::Write(const std::string& folder,
                       const std::vector<SaveModel>& saves) {
  for (const SaveModel& save : saves) {
    {
      MutexLock lock(mutex_);
      if (is_stopping_) return;
    }
    const absl::Status status = WriteSavedModel(output_dir_, folder, save);
    MutexLock lock(mutex_);
    results_.push_back(status);
    if (!status.ok()) break;
  }
  MutexLock lock(mutex_);
  is_written_ = true;
}

void ModelSaver::Poll() {
  std::vector<absl::Status> results;
  {
    MutexLock lock(mutex_);
    if (!is_written_) return;
    is_written_ = false;
    results = std::exchange(results_, {});
  }
  thread_.join();
  for (size_t i = 0; i < results.size(); ++i) saved_(saves_[i], results[i]);
  saves_.clear();
  std::exchange(done_, nullptr)();
}

}  // namespace paceline
