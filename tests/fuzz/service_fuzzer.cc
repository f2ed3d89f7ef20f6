// What daemons and people send to the coordinator of a service: registrations,
// submissions, files, logs and outputs, over its stores on disk.
#include <glog/logging.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/identity/sha256.h"
#include "common/rpc/message_bytes.h"
#include "coordinator/service/authorizer.h"
#include "coordinator/service/daemon_service.h"
#include "coordinator/service/file_service.h"
#include "coordinator/service/job_service.h"
#include "coordinator/service/progress_board.h"
#include "coordinator/service/shared_queue.h"
#include "coordinator/service/token_service.h"
#include "coordinator/store/file_store.h"
#include "coordinator/store/log_store.h"
#include "coordinator/store/queue_store.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

constexpr char kContent[] = "name: small";
constexpr char kVersion[] = "1";

template <typename Store>
std::unique_ptr<Store> Must(absl::StatusOr<std::unique_ptr<Store>> store) {
  CHECK(store.ok()) << store.status();
  return *std::move(store);
}

// A call over no network. It must be finished once.
class Call final : public ServerCall {
 public:
  explicit Call(grpc::ByteBuffer request) : request_(std::move(request)) {}
  ~Call() { CHECK(is_finished_); }

  grpc::ByteBuffer& request() override { return request_; }
  const Person& person() const override { return person_; }
  void Finish(const absl::Status& /*error*/) override { End(); }
  void Finish(grpc::ByteBuffer /*response*/) override { End(); }
  void Send(grpc::ByteBuffer, std::function<void()>) override {}
  void Cancel() override {}
  void OnCancelled(std::function<void()>) override {}

 private:
  void End() {
    CHECK(!is_finished_);
    is_finished_ = true;
  }

  grpc::ByteBuffer request_;
  const Person person_ = {.user = "ann", .is_admin = false};
  bool is_finished_ = false;
};

class FuzzService {
 public:
  explicit FuzzService(const std::string& folder)
      : files_(
            Must(FileStore::Open(folder + "/files", {.max_file_bytes = 64 << 10,
                                                     .max_bytes = 256 << 10}))),
        logs_(Must(LogStore::Open(folder + "/logs", {.max_log_bytes = 1000}))),
        queue_(Must(
            SharedQueue::Open({.incarnation = 1, .version = kVersion},
                              Must(QueueStore::Open(folder + "/queue.db"))))),
        daemons_("key", *queue_, *files_, *logs_, progress_),
        file_service_(*files_, /*max_upload_rate=*/64 << 20),
        jobs_(kVersion, *queue_, *files_, *logs_, progress_),
        authorizer_(Must(Authorizer::Load(*queue_))),
        tokens_(*authorizer_, /*has_secret=*/true) {}
  // Before the calls are destroyed.
  ~FuzzService() { queue_->EndWaits(); }

  template <typename Request>
  void Send(const std::string& method, const Request& request) {
    calls_.push_back(std::make_unique<Call>(WriteMessage(request)));
    for (const RpcService* service : std::vector<const RpcService*>{
             &daemons_, &file_service_, &jobs_, &tokens_}) {
      const auto found = service->methods().find("/paceline.v1." + method);
      if (found == service->methods().end()) continue;
      found->second.handle(*calls_.back());
      return;
    }
    LOG(FATAL) << method;
  }

 private:
  std::vector<std::unique_ptr<Call>> calls_;
  const std::unique_ptr<FileStore> files_;
  const std::unique_ptr<LogStore> logs_;
  const std::unique_ptr<SharedQueue> queue_;
  ProgressBoard progress_;
  DaemonService daemons_;
  FileService file_service_;
  JobService jobs_;
  const std::unique_ptr<Authorizer> authorizer_;
  TokenService tokens_;
};

std::string FuzzHash(FuzzInput& input) {
  return input.Below(4) == 0 ? input.Text() : Sha256Hex(kContent);
}

std::string FuzzId(FuzzInput& input) {
  return input.Below(4) == 0 ? input.Text() : "job-1";
}

v1::JobFile FuzzFile(FuzzInput& input, const std::string& path) {
  v1::JobFile file;
  file.set_path(input.Below(4) == 0 ? input.Text() : path);
  file.set_sha256(FuzzHash(input));
  file.set_size_bytes(input.Number());
  return file;
}

v1::JobTask FuzzTask(FuzzInput& input) {
  v1::JobTask task;
  task.set_job(FuzzId(input));
  task.set_generation(1 + input.Below(3) % 2);
  task.mutable_task()->set_type(input.Below(2) == 0 ? v1::TASK_TYPE_CHIEF
                                                    : v1::TASK_TYPE_WORKER);
  if (input.Below(4) == 0) {
    task.mutable_task()->set_index(static_cast<uint32_t>(input.Number()));
  }
  return task;
}

void SendDaemons(FuzzInput& input, uint64_t sequence, FuzzService& service) {
  v1::SyncRequest sync;
  sync.set_daemon(input.Below(8) == 0 ? input.Text() : "a");
  sync.set_incarnation(1);
  sync.set_sequence(sequence);
  sync.set_type(v1::TASK_TYPE_WORKER);
  sync.set_version(kVersion);
  sync.mutable_total()->set_millicores(4);
  sync.set_coordinator(input.Below(8) == 0 ? input.Number() : 1);
  sync.set_last_answer(input.Below(2) == 0 ? sequence - 1 : input.Number());
  while (input.Below(2) == 1) {
    v1::TaskReport& report = *sync.add_tasks();
    *report.mutable_task() = FuzzTask(input);
    report.set_state(static_cast<v1::TaskState>(input.Below(5)));
    report.set_address(input.Text());
    report.set_exit_code(static_cast<uint32_t>(input.Number()));
  }
  service.Send("DaemonService/Sync", sync);
}

void SendSubmission(FuzzInput& input, FuzzService& service) {
  v1::SubmitJobRequest request;
  v1::Submission& submission = *request.mutable_submission();
  submission.set_name(input.Below(4) == 0 ? input.Text() : "job");
  v1::TaskGroup& workers = *submission.add_groups();
  workers.set_type(v1::TASK_TYPE_WORKER);
  workers.set_count(1 + input.Below(3));
  *submission.add_files() = FuzzFile(input, "job.yaml");
  if (input.Below(4) == 0) submission.add_overrides(input.Text());
  service.Send("JobService/SubmitJob", request);
}

void SendFiles(FuzzInput& input, FuzzService& service) {
  v1::PutFileRequest put;
  put.set_sha256(FuzzHash(input));
  put.set_content(input.Below(2) == 0 ? kContent : input.Text());
  put.set_size_bytes(input.Below(2) == 0 ? put.content().size()
                                         : input.Number());
  if (input.Below(2) == 0) put.set_offset(input.Number());
  service.Send("FileService/PutFile", put);
  v1::GetFileRequest get;
  get.set_sha256(FuzzHash(input));
  get.set_offset(input.Number());
  service.Send("FileService/GetFile", get);
}

void SendTasks(FuzzInput& input, FuzzService& service) {
  v1::AppendLogRequest log;
  *log.mutable_task() = FuzzTask(input);
  log.set_offset(input.Below(2) == 0 ? 0 : input.Number());
  log.set_text(input.Text());
  if (input.Below(2) == 0) {
    log.mutable_progress()->mutable_current()->set_steps_done(input.Number());
  }
  service.Send("DaemonService/AppendLog", log);
  v1::AddOutputsRequest outputs;
  *outputs.mutable_task() = FuzzTask(input);
  *outputs.add_files() = FuzzFile(input, "out/result.json");
  service.Send("DaemonService/AddOutputs", outputs);
  v1::GetTaskFilesRequest files;
  *files.mutable_task() = FuzzTask(input);
  service.Send("DaemonService/GetTaskFiles", files);
}

void SendQuestions(FuzzInput& input, FuzzService& service) {
  v1::ReadLogRequest log;
  log.set_id(FuzzId(input));
  *log.mutable_task() = FuzzTask(input).task();
  log.set_generation(input.Below(3));
  log.set_offset(static_cast<int64_t>(input.Number()));
  log.set_should_wait(input.Below(2) == 0);
  if (input.Below(2) == 0) log.set_progress_number(input.Below(3));
  service.Send("JobService/ReadLog", log);
  v1::GetJobRequest get;
  get.set_id(FuzzId(input));
  get.set_unlike(static_cast<v1::JobState>(input.Below(8)));
  service.Send("JobService/GetJob", get);
  v1::ListJobsRequest list;
  list.set_page_size(static_cast<uint32_t>(input.Number()));
  list.set_page_token(input.Below(2) == 0 ? "2" : input.Text());
  service.Send("JobService/ListJobs", list);
  service.Send("JobService/ListMembers", v1::ListMembersRequest());
}

void SendOrders(FuzzInput& input, FuzzService& service) {
  v1::StopJobRequest stop;
  stop.set_id(FuzzId(input));
  service.Send("JobService/StopJob", stop);
  v1::DeleteJobRequest remove;
  remove.set_id(FuzzId(input));
  service.Send("JobService/DeleteJob", remove);
  v1::DrainMemberRequest drain;
  drain.set_name("a");
  drain.set_is_drained(input.Below(2) == 0);
  service.Send("JobService/DrainMember", drain);
}

void SendTokens(FuzzInput& input, FuzzService& service) {
  v1::CreateTokenRequest create;
  create.set_user(input.Text());
  create.set_role(static_cast<v1::Role>(input.Below(5)));
  create.set_lifetime_micros(static_cast<int64_t>(input.Number()));
  service.Send("TokenService/CreateToken", create);
  service.Send("TokenService/ListTokens", v1::ListTokensRequest());
  v1::RevokeTokenRequest revoke;
  revoke.set_id(input.Below(3));
  service.Send("TokenService/RevokeToken", revoke);
}

}  // namespace

void Fuzz(FuzzInput input) {
  const char* const scratch = std::getenv("TMPDIR");
  const std::string folder =
      std::string(scratch == nullptr ? "/tmp" : scratch) + "/service-fuzzer-" +
      std::to_string(getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  FuzzService service(folder);
  uint64_t sequence = 0;
  for (int i = 0; i < 30 && !input.is_empty(); ++i) {
    switch (input.Below(7)) {
      case 0:
        SendDaemons(input, ++sequence, service);
        break;
      case 1:
        SendSubmission(input, service);
        break;
      case 2:
        SendFiles(input, service);
        break;
      case 3:
        SendTasks(input, service);
        break;
      case 4:
        SendQuestions(input, service);
        break;
      case 5:
        SendTokens(input, service);
        break;
      default:
        SendOrders(input, service);
    }
  }
}

}  // namespace paceline
