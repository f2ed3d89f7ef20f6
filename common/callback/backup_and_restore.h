// Has a job that is started again go on where it was, as
// keras.callbacks.BackupAndRestore does: by the checkpoints of the job itself.
#ifndef PACELINE_COMMON_CALLBACK_BACKUP_AND_RESTORE_H_
#define PACELINE_COMMON_CALLBACK_BACKUP_AND_RESTORE_H_

#include "absl/strings/string_view.h"
#include "common/callback/callback.h"
#include "common/callback/save_frequency.h"

namespace paceline {

template <typename T>
class FieldTable;

// It decides nothing: common/job/backup.h says what becomes of the job.
class BackupAndRestore final : public Callback {
 public:
  static constexpr char kClassName[] = "BackupAndRestore";
  static const FieldTable<BackupAndRestore>& Fields();

  absl::string_view class_name() const override { return kClassName; }

  SaveFrequency save_freq;
  bool double_checkpoint = false;
  bool delete_checkpoint = true;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CALLBACK_BACKUP_AND_RESTORE_H_
