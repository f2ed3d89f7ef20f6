#include "coordinator/store/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/folder.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::StatusCode CodeOf(int result) {
  switch (result & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kFailedPrecondition;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_FULL:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_IOERR:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

// Creates an empty file that only its user can read, unless there is one.
// SQLite gives the files beside it the same mode.
absl::Status CreatePrivately(const std::string& path) {
  // A file that is there is not opened: closing it would drop SQLite's locks,
  // if this process has it open already.
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open() && errno == EEXIST) return absl::OkStatus();
  return file.is_open() ? absl::OkStatus() : ErrnoError("cannot create", path);
}

absl::StatusOr<Folder> FolderWith(const std::string& path) {
  return Folder::Open(std::filesystem::path(path).parent_path().string());
}

absl::Status SyncFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || fsync(file.get()) != 0) {
    return ErrnoError("cannot sync", path);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, const Schema& schema) {
  ASSIGN_OR_RETURN(const Folder folder, FolderWith(path));
  RETURN_IF_ERROR(CreatePrivately(path));
  RETURN_IF_ERROR(folder.Sync());
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(path, opened));
  if (result != SQLITE_OK) return database->Error();
  RETURN_IF_ERROR(database->Lock());
  ASSIGN_OR_RETURN(const int64_t version, database->VersionOf(schema));
  RETURN_IF_ERROR(database->CheckPages());
  RETURN_IF_ERROR(database->LogAhead());
  RETURN_IF_ERROR(database->Migrate(schema, version));
  return database;
}

Database::~Database() { sqlite3_close(database_); }

absl::Status Database::Transact(absl::FunctionRef<absl::Status()> write) {
  RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
  absl::Status done = write();
  if (done.ok()) done = Execute("COMMIT");
  // An error may have rolled it back already.
  if (!done.ok()) Execute("ROLLBACK").IgnoreError();
  return done;
}

absl::Status Database::Execute(const std::string& sql) {
  return sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) ==
                 SQLITE_OK
             ? absl::OkStatus()
             : Error();
}

// Once taken, the lock is held until the file is closed.
absl::Status Database::Lock() {
  return Execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
}

// 0: the file is new.
absl::StatusOr<int64_t> Database::VersionOf(const Schema& schema) {
  ASSIGN_OR_RETURN(const int64_t application_id,
                   Number("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, Number("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t tables,
                   Number("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = application_id == 0 && version == 0 && tables == 0;
  if (!is_new && (application_id != schema.application_id || version < 1)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, ": a database of another program"));
  }
  const auto last = static_cast<int64_t>(schema.migrations.size());
  if (version > last) {
    return absl::FailedPreconditionError(absl::StrCat(
        path_, ": has version ", version,
        ", of a later Paceline; this one knows versions up to ", last));
  }
  return version;
}

absl::Status Database::CheckPages() {
  Statement check(*this, "PRAGMA quick_check(1)");
  ASSIGN_OR_RETURN(const bool has_row, check.Step());
  if (has_row && check.Bytes(0) == "ok") return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path_, ": damaged: ", has_row ? check.Bytes(0) : ""));
}

absl::Status Database::LogAhead() {
  Statement mode(*this, "PRAGMA journal_mode = WAL");
  ASSIGN_OR_RETURN(const bool has_row, mode.Step());
  if (!has_row || mode.Bytes(0) != "wal") {
    return absl::FailedPreconditionError(
        absl::StrCat(path_, ": cannot have a write-ahead log"));
  }
  return Execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
}

absl::Status Database::Migrate(const Schema& schema, int64_t version) {
  const size_t last = schema.migrations.size();
  if (static_cast<size_t>(version) == last) return absl::OkStatus();
  if (version > 0) {
    RETURN_IF_ERROR(BackUp(absl::StrCat(path_, ".backup-", version)));
  }
  return Transact([&]() -> absl::Status {
    for (const char* sql : schema.migrations.subspan(version)) {
      RETURN_IF_ERROR(Execute(sql));
    }
    return Execute(
        absl::StrCat("PRAGMA application_id = ", schema.application_id,
                     "; PRAGMA user_version = ", last));
  });
}

absl::Status Database::BackUp(const std::string& name) {
  // What an earlier try has left is not whole.
  const std::string temporary = name + ".tmp";
  if (unlink(temporary.c_str()) != 0 && errno != ENOENT) {
    return ErrnoError("cannot replace", temporary);
  }
  RETURN_IF_ERROR(CreatePrivately(temporary));
  Statement copy(*this, "VACUUM INTO ?");
  copy.BindText(1, temporary);
  RETURN_IF_ERROR(copy.Step().status());
  RETURN_IF_ERROR(SyncFile(temporary));
  if (rename(temporary.c_str(), name.c_str()) != 0) {
    return ErrnoError("cannot rename to", name);
  }
  ASSIGN_OR_RETURN(const Folder folder, FolderWith(name));
  return folder.Sync();
}

absl::StatusOr<int64_t> Database::Number(const char* sql) {
  Statement statement(*this, sql);
  ASSIGN_OR_RETURN(const bool has_row, statement.Step());
  return has_row ? statement.Number(0) : 0;
}

absl::Status Database::Error() const {
  const int result = sqlite3_errcode(database_);
  const bool is_locked = result == SQLITE_BUSY || result == SQLITE_LOCKED;
  return absl::Status(CodeOf(result),
                      absl::StrCat(path_, ": ",
                                   is_locked ? "another process has it open"
                                             : sqlite3_errmsg(database_)));
}

Statement::Statement(const Database& database, const char* sql)
    : database_(database) {
  sqlite3_prepare_v2(database.database_, sql, -1, &statement_, nullptr);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::BindText(int index, const std::string& text) {
  sqlite3_bind_text64(statement_, index, text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::BindBytes(int index, const std::string& bytes) {
  sqlite3_bind_blob64(statement_, index, bytes.data(), bytes.size(),
                      SQLITE_STATIC);
}

void Statement::BindNumber(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
}

absl::StatusOr<bool> Statement::Step() {
  // One that could not be prepared is null, and the error is still there.
  if (statement_ == nullptr) return database_.Error();
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return database_.Error();
}

absl::string_view Statement::Bytes(int column) const {
  // In this order: the first may change what the second says.
  const void* const bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
}

int64_t Statement::Number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

}  // namespace paceline
