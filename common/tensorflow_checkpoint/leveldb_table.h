// Reads a table of LevelDB, by its own library.
//
// The table is hostile, and the library believes sizes: it allocates that of a
// block before it looks whether the file is so large, and adds sizes of blocks
// and entries without a look at overflow. So all of them are compared with the
// file first. Source of the format:
// https://github.com/google/leveldb/blob/main/doc/table_format.md
#ifndef PACELINE_COMMON_TENSORFLOW_CHECKPOINT_LEVELDB_TABLE_H_
#define PACELINE_COMMON_TENSORFLOW_CHECKPOINT_LEVELDB_TABLE_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Calls `visit` with each key, in ascending order, and its value, until it
// returns an error, which is passed on. Else InvalidArgument if it is no table,
// DataLoss if it is damaged, Unimplemented if it is compressed, as TensorFlow's
// never are. Thread-safe.
absl::Status ReadLeveldbTable(
    absl::string_view table,
    absl::FunctionRef<absl::Status(absl::string_view key,
                                   absl::string_view value)>
        visit);

}  // namespace paceline

#endif  // PACELINE_COMMON_TENSORFLOW_CHECKPOINT_LEVELDB_TABLE_H_
