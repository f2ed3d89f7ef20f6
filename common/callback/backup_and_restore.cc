#include "common/callback/backup_and_restore.h"

#include "common/config/field_table.h"

namespace paceline {

const FieldTable<BackupAndRestore>& BackupAndRestore::Fields() {
  static const auto& table = *new FieldTable<BackupAndRestore>(
      kClassName,
      "A job that was ended and is started again by the same command goes on "
      "from its last checkpoint, as if by `--resume`; without a checkpoint it "
      "begins. A job without `checkpoint` takes checkpoints as `save_freq` "
      "says.",
      {Only("backup_dir", "checkpoint",
            "The folder of the job's checkpoints, below its output folder."),
       Optional("save_freq", &BackupAndRestore::save_freq,
                "When checkpoints are taken, unless `checkpoint` of the job "
                "says so."),
       Optional("double_checkpoint", &BackupAndRestore::double_checkpoint,
                "Whether two of them stay instead of one, unless `checkpoint` "
                "of the job says so."),
       Optional("delete_checkpoint", &BackupAndRestore::delete_checkpoint,
                "Whether they are deleted once the job has succeeded and its "
                "model is written. Must be false in a job with "
                "`checkpoint`.")});
  return table;
}

}  // namespace paceline
