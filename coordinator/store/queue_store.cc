#include "coordinator/store/queue_store.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/identity/mac.h"
#include "google/protobuf/message_lite.h"

namespace paceline {
namespace {

// A migration that was released stays as it is; changes are new ones.
constexpr const char* kMigrations[] = {
    "CREATE TABLE jobs (id TEXT PRIMARY KEY NOT NULL, record BLOB NOT NULL);"
    "CREATE TABLE daemons (name TEXT PRIMARY KEY NOT NULL,"
    " record BLOB NOT NULL);"
    "CREATE TABLE outputs (job TEXT, path TEXT, sha256 TEXT NOT NULL,"
    " size INTEGER NOT NULL, PRIMARY KEY (job, path)) WITHOUT ROWID;"
    "CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE keys (name TEXT PRIMARY KEY, value BLOB NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE tokens (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL,"
    " record BLOB NOT NULL);",
};
constexpr int64_t kApplicationId = 0x50634C6E;  // "PcLn"
constexpr size_t kKeyBytes = 32;

bool StoresNothing(const QueueAction& action) {
  return std::holds_alternative<OrdersChanged>(action);
}

absl::Status StoreRecord(Database& database, const char* sql,
                         const std::string& name,
                         const google::protobuf::MessageLite& record) {
  const std::string bytes = record.SerializeAsString();
  Statement statement(database, sql);
  statement.BindText(1, name);
  statement.BindBytes(2, bytes);
  return statement.Step().status();
}

absl::Status Remove(Database& database, const char* sql,
                    const std::string& name) {
  Statement statement(database, sql);
  statement.BindText(1, name);
  return statement.Step().status();
}

const std::string& NameOf(const v1::JobRecord& record) { return record.id(); }
const std::string& NameOf(const v1::DaemonRecord& record) {
  return record.name();
}

// Appends the records of rows of a name and a message.
template <typename Record>
absl::Status LoadRecords(Database& database, const char* sql,
                         absl::string_view what, std::vector<Record>& records) {
  Statement statement(database, sql);
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return absl::OkStatus();
    const absl::string_view name = statement.Bytes(0);
    const absl::string_view bytes = statement.Bytes(1);
    Record& record = records.emplace_back();
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        NameOf(record) != name) {
      return absl::DataLossError(
          absl::StrCat(database.path(), ": the record of ", what, " \"",
                       PeerText(name), "\" cannot be read"));
    }
  }
}

absl::Status StoreAction(Database& database, const QueueAction& action) {
  if (const auto* job = std::get_if<StoreJob>(&action)) {
    return StoreRecord(database, "INSERT OR REPLACE INTO jobs VALUES (?, ?)",
                       job->record.id(), job->record);
  }
  if (const auto* daemon = std::get_if<StoreDaemon>(&action)) {
    return StoreRecord(database, "INSERT OR REPLACE INTO daemons VALUES (?, ?)",
                       daemon->record.name(), daemon->record);
  }
  if (const auto* last = std::get_if<StoreLastNumber>(&action)) {
    Statement statement(
        database, "INSERT OR REPLACE INTO numbers VALUES ('last_job', ?)");
    statement.BindNumber(1, static_cast<int64_t>(last->number));
    return statement.Step().status();
  }
  if (const auto* job = std::get_if<RemoveJob>(&action)) {
    RETURN_IF_ERROR(
        Remove(database, "DELETE FROM outputs WHERE job = ?", job->id));
    return Remove(database, "DELETE FROM jobs WHERE id = ?", job->id);
  }
  if (const auto* daemon = std::get_if<RemoveDaemon>(&action)) {
    return Remove(database, "DELETE FROM daemons WHERE name = ?", daemon->name);
  }
  return absl::OkStatus();
}

// "": there is none yet.
absl::StatusOr<std::string> FindKey(Database& database) {
  Statement statement(database, "SELECT value FROM keys WHERE name = 'master'");
  ASSIGN_OR_RETURN(const bool has_row, statement.Step());
  if (!has_row) return std::string();
  const absl::string_view key = statement.Bytes(0);
  if (key.size() != kKeyBytes) {
    return absl::DataLossError(absl::StrCat(database.path(), ": the key has ",
                                            key.size(), " bytes; expected ",
                                            kKeyBytes));
  }
  return std::string(key);
}

}  // namespace

absl::StatusOr<std::unique_ptr<QueueStore>> QueueStore::Open(
    const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   Database::Open(path, {kApplicationId, kMigrations}));
  return std::unique_ptr<QueueStore>(new QueueStore(std::move(database)));
}

absl::StatusOr<StoredQueue> QueueStore::Load() {
  const MutexLock lock(mutex_);
  StoredQueue stored;
  RETURN_IF_ERROR(LoadRecords(*database_,
                              "SELECT id, record FROM jobs ORDER BY id", "job",
                              stored.jobs));
  RETURN_IF_ERROR(LoadRecords(*database_,
                              "SELECT name, record FROM daemons ORDER BY name",
                              "daemon", stored.daemons));
  Statement last(*database_,
                 "SELECT value FROM numbers WHERE name = 'last_job'");
  ASSIGN_OR_RETURN(const bool has_last, last.Step());
  if (has_last) stored.last_number = last.Number(0);
  return stored;
}

absl::Status QueueStore::Apply(absl::Span<const QueueAction> actions) {
  if (std::all_of(actions.begin(), actions.end(), StoresNothing)) {
    return absl::OkStatus();
  }
  const MutexLock lock(mutex_);
  Database& database = *database_;
  return database.Transact([&]() -> absl::Status {
    for (const QueueAction& action : actions) {
      RETURN_IF_ERROR(StoreAction(database, action));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::string> QueueStore::MasterKey() {
  const MutexLock lock(mutex_);
  Database& database = *database_;
  ASSIGN_OR_RETURN(std::string stored, FindKey(database));
  if (!stored.empty()) return stored;
  const std::string key = RandomBytes(kKeyBytes);
  RETURN_IF_ERROR(database.Transact([&]() -> absl::Status {
    Statement statement(database, "INSERT INTO keys VALUES ('master', ?)");
    statement.BindBytes(1, key);
    return statement.Step().status();
  }));
  return key;
}

absl::Status QueueStore::ChangeOutputs(
    const std::string& job_id, absl::Span<const v1::JobFile> files,
    const std::vector<std::string>& removed) {
  const MutexLock lock(mutex_);
  Database& database = *database_;
  return database.Transact([&]() -> absl::Status {
    Statement job(database, "SELECT 1 FROM jobs WHERE id = ?");
    job.BindText(1, job_id);
    ASSIGN_OR_RETURN(const bool has_job, job.Step());
    if (!has_job) {
      return absl::NotFoundError(
          absl::StrCat("there is no job \"", PeerText(job_id), "\""));
    }
    for (const std::string& path : removed) {
      Statement statement(database,
                          "DELETE FROM outputs WHERE job = ? AND path = ?");
      statement.BindText(1, job_id);
      statement.BindText(2, path);
      RETURN_IF_ERROR(statement.Step().status());
    }
    for (const v1::JobFile& file : files) {
      Statement statement(database,
                          "INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?)");
      statement.BindText(1, job_id);
      statement.BindText(2, file.path());
      statement.BindText(3, file.sha256());
      statement.BindNumber(4, static_cast<int64_t>(file.size_bytes()));
      RETURN_IF_ERROR(statement.Step().status());
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<v1::JobFile>> QueueStore::Outputs(
    const std::string& job_id) {
  const MutexLock lock(mutex_);
  Statement statement(
      *database_,
      "SELECT path, sha256, size FROM outputs WHERE job = ? ORDER BY path");
  statement.BindText(1, job_id);
  std::vector<v1::JobFile> files;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return files;
    v1::JobFile& file = files.emplace_back();
    file.set_path(std::string(statement.Bytes(0)));
    file.set_sha256(std::string(statement.Bytes(1)));
    file.set_size_bytes(static_cast<uint64_t>(statement.Number(2)));
  }
}

absl::Status QueueStore::StoreToken(const StoredToken& token) {
  const MutexLock lock(mutex_);
  Database& database = *database_;
  const std::string bytes = token.record.SerializeAsString();
  const int64_t id = static_cast<int64_t>(token.record.id());
  return database.Transact([&]() -> absl::Status {
    Statement statement(database,
                        "INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)");
    statement.BindNumber(1, id);
    statement.BindText(2, token.sha256);
    statement.BindBytes(3, bytes);
    RETURN_IF_ERROR(statement.Step().status());
    Statement last(database,
                   "INSERT INTO numbers VALUES ('last_token', ?1) "
                   "ON CONFLICT (name) DO UPDATE SET value = max(value, ?1)");
    last.BindNumber(1, id);
    return last.Step().status();
  });
}

absl::Status QueueStore::RemoveToken(uint64_t id) {
  const MutexLock lock(mutex_);
  Statement statement(*database_, "DELETE FROM tokens WHERE id = ?");
  statement.BindNumber(1, static_cast<int64_t>(id));
  return statement.Step().status();
}

absl::StatusOr<StoredTokens> QueueStore::LoadTokens() {
  const MutexLock lock(mutex_);
  StoredTokens stored;
  Statement last(*database_,
                 "SELECT value FROM numbers WHERE name = 'last_token'");
  ASSIGN_OR_RETURN(const bool has_last, last.Step());
  if (has_last) stored.last_id = static_cast<uint64_t>(last.Number(0));
  Statement statement(*database_,
                      "SELECT id, sha256, record FROM tokens ORDER BY id");
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return stored;
    StoredToken& token = stored.tokens.emplace_back();
    token.sha256 = std::string(statement.Bytes(1));
    const absl::string_view bytes = statement.Bytes(2);
    if (!token.record.ParseFromArray(bytes.data(),
                                     static_cast<int>(bytes.size())) ||
        static_cast<int64_t>(token.record.id()) != statement.Number(0)) {
      return absl::DataLossError(
          absl::StrCat(database_->path(), ": the record of token ",
                       statement.Number(0), " cannot be read"));
    }
  }
}

absl::StatusOr<std::set<std::string>> QueueStore::ReferencedFiles() {
  const MutexLock lock(mutex_);
  Statement statement(*database_, "SELECT DISTINCT sha256 FROM outputs");
  std::set<std::string> files;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return files;
    files.emplace(statement.Bytes(0));
  }
}

}  // namespace paceline
