// A file of SQLite that belongs to one process, with a schema in versions.
//
// What a transaction has written survives the death of the process and of the
// machine: it is on disk before the transaction returns (a write-ahead log,
// synchronous). The file may hold secrets, so only its user can read it.
#ifndef PACELINE_COORDINATOR_STORE_DATABASE_H_
#define PACELINE_COORDINATOR_STORE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

struct sqlite3;
struct sqlite3_stmt;

namespace paceline {

struct Schema {
  // In SQLite's header: tells our files from other programs'.
  int64_t application_id = 0;
  // SQL that makes each version out of the one before, and the first out of
  // nothing. It must outlive Open.
  absl::Span<const char* const> migrations;
};

// Not thread-safe; calls block on the disk. Errors name the file.
class Database {
 public:
  // Opens the file, or creates it, and brings it to the schema's last version.
  // A file of an earlier version is copied to PATH.backup-VERSION before.
  //
  // FailedPrecondition: another process has it open, its version is later than
  // the schema's last one, or it is a database of another program; the file
  // stays as it was. DataLoss: it is damaged, or no database.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        const Schema& schema);
  ~Database();

  // Stores all that `write` does, or nothing if that returns an error.
  absl::Status Transact(absl::FunctionRef<absl::Status()> write);

  // Runs statements without parameters.
  absl::Status Execute(const std::string& sql);

  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  Database(std::string path, sqlite3* database)
      : path_(std::move(path)), database_(database) {}

  absl::Status Lock();
  absl::StatusOr<int64_t> VersionOf(const Schema& schema);
  absl::Status CheckPages();
  absl::Status LogAhead();
  absl::Status Migrate(const Schema& schema, int64_t version);
  absl::Status BackUp(const std::string& name);
  absl::StatusOr<int64_t> Number(const char* sql);
  // The error of SQLite's last call.
  absl::Status Error() const;

  const std::string path_;
  sqlite3* const database_;
};

// A prepared statement. The database must outlive it, and the SQL be right:
// what is wrong with it is reported by Step.
class Statement {
 public:
  Statement(const Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Values for the parameters, from 1. Texts and bytes must outlive Step.
  void BindText(int index, const std::string& text);
  void BindBytes(int index, const std::string& bytes);
  void BindNumber(int index, int64_t value);

  // Goes to the first or next row. False: there is none.
  absl::StatusOr<bool> Step();

  // Of the row, from 0. Bytes, or a text's bytes, are valid until Step.
  absl::string_view Bytes(int column) const;
  int64_t Number(int column) const;

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_STORE_DATABASE_H_
