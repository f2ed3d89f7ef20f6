// The coordinator of a service as daemons see it, in this process.
#ifndef PACELINE_TESTS_UNIT_DAEMON_FAKE_COORDINATOR_H_
#define PACELINE_TESTS_UNIT_DAEMON_FAKE_COORDINATOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/daemon/task_book.h"
#include "common/rpc/rpc_service.h"
#include "paceline/v1/queue.pb.h"
#include "paceline/v1/service.pb.h"

namespace paceline {

inline constexpr size_t kMaxFakeRequest = 8 << 20;

// What the coordinator knows and wants.
struct Books {
  Mutex mutex;
  uint64_t coordinator ABSL_GUARDED_BY(mutex) = 5;
  // Answers every Sync.
  absl::Status error ABSL_GUARDED_BY(mutex);
  // Answers what brings a log or a file.
  absl::Status refusal ABSL_GUARDED_BY(mutex);
  int refusals ABSL_GUARDED_BY(mutex) = 0;
  std::vector<v1::TaskOrder> orders ABSL_GUARDED_BY(mutex);
  v1::SyncRequest last ABSL_GUARDED_BY(mutex);
  std::map<std::string, std::string> logs ABSL_GUARDED_BY(mutex);
  // By SHA-256.
  std::map<std::string, std::string> contents ABSL_GUARDED_BY(mutex);
  // By path.
  std::map<std::string, std::string> files ABSL_GUARDED_BY(mutex);
  std::map<std::string, std::string> outputs ABSL_GUARDED_BY(mutex);
  // The progress of jobs whose leaders have shown some.
  std::vector<v1::JobProgress> progress ABSL_GUARDED_BY(mutex);
  bool wants_progress ABSL_GUARDED_BY(mutex) = false;
  int put_calls ABSL_GUARDED_BY(mutex) = 0;
};

class FakeDaemonService : public RpcService {
 public:
  explicit FakeDaemonService(Books& books)
      : RpcService("paceline.v1.DaemonService") {
    AddMessages<v1::SyncRequest, v1::SyncResponse>(
        "Sync", kMaxFakeRequest,
        [&books](const auto& request, auto& response, const Done& done) {
          MutexLock lock(books.mutex);
          if (!books.error.ok()) return done(books.error);
          response.set_coordinator(books.coordinator);
          if (request.coordinator() == books.coordinator) {
            books.last = request;
            response.mutable_orders()->Add(books.orders.begin(),
                                           books.orders.end());
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::GetTaskFilesRequest, v1::GetTaskFilesResponse>(
        "GetTaskFiles", kMaxFakeRequest,
        [&books](const auto&, auto& response, const Done& done) {
          MutexLock lock(books.mutex);
          for (const auto& [path, sha256] : books.files) {
            v1::JobFile& file = *response.add_files();
            file.set_path(path);
            file.set_sha256(sha256);
            file.set_size_bytes(books.contents.at(sha256).size());
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::AppendLogRequest, v1::AppendLogResponse>(
        "AppendLog", kMaxFakeRequest,
        [&books](const auto& request, auto& response, const Done& done) {
          MutexLock lock(books.mutex);
          if (!books.refusal.ok()) {
            ++books.refusals;
            return done(books.refusal);
          }
          const auto task = HeldTask::FromProto(request.task());
          std::string& log = books.logs[task->Name()];
          if (request.offset() == log.size()) log += request.text();
          response.set_size(log.size());
          if (request.has_progress()) {
            books.progress.push_back(request.progress());
          }
          response.set_wants_progress(books.wants_progress);
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::AddOutputsRequest, v1::AddOutputsResponse>(
        "AddOutputs", kMaxFakeRequest,
        [&books](const auto& request, auto&, const Done& done) {
          MutexLock lock(books.mutex);
          for (const v1::JobFile& file : request.files()) {
            books.outputs[file.path()] = books.contents.at(file.sha256());
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
  }
};

class FakeFileService : public RpcService {
 public:
  explicit FakeFileService(Books& books)
      : RpcService("paceline.v1.FileService") {
    AddMessages<v1::FindFilesRequest, v1::FindFilesResponse>(
        "FindFiles", kMaxFakeRequest,
        [&books](const auto& request, auto& response, const Done& done) {
          MutexLock lock(books.mutex);
          for (const std::string& sha256 : request.sha256()) {
            response.add_files()->set_is_complete(
                books.contents.contains(sha256));
          }
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::PutFileRequest, v1::PutFileResponse>(
        "PutFile", kMaxFakeRequest,
        [&books](const auto& request, auto& response, const Done& done) {
          MutexLock lock(books.mutex);
          if (!books.refusal.ok()) return done(books.refusal);
          ++books.put_calls;
          std::string& content = books.contents[request.sha256()];
          content += request.content();
          response.mutable_progress()->set_received_bytes(content.size());
          response.mutable_progress()->set_is_complete(content.size() ==
                                                       request.size_bytes());
          done(absl::OkStatus());
        },
        Access::kNewcomers);
    AddMessages<v1::GetFileRequest, v1::GetFileResponse>(
        "GetFile", kMaxFakeRequest,
        [&books](const auto& request, auto& response, const Done& done) {
          MutexLock lock(books.mutex);
          response.set_content(
              books.contents.at(request.sha256()).substr(request.offset()));
          done(absl::OkStatus());
        },
        Access::kNewcomers);
  }
};

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_DAEMON_FAKE_COORDINATOR_H_
