#include "tests/benchmark/peers/grpc_transport.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "glog/logging.h"

namespace paceline::peers {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr absl::Duration kTimeout = absl::Minutes(1);

// The pieces received from one rank.
class Inbox {
 public:
  void Put(grpc::ByteBuffer piece) {
    MutexLock lock(mutex_);
    pieces_.push_back(std::move(piece));
    changed_.NotifyAll();
  }
  grpc::ByteBuffer Take() {
    MutexLock lock(mutex_);
    while (pieces_.empty()) CHECK(changed_.WaitFor(mutex_, kTimeout));
    grpc::ByteBuffer piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<grpc::ByteBuffer> pieces_ ABSL_GUARDED_BY(mutex_);
};

class Receiver final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Receiver(Inbox& inbox) : inbox_(inbox) { StartRead(&piece_); }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    inbox_.Put(std::exchange(piece_, {}));
    StartRead(&piece_);
  }
  void OnDone() override { delete this; }

 private:
  Inbox& inbox_;
  grpc::ByteBuffer piece_;
};

// The name of a call's method is the caller's rank.
class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(std::vector<Inbox>& inboxes) : inboxes_(inboxes) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Receiver(inboxes_[std::atoi(context->method().c_str() + 1)]);
  }

 private:
  std::vector<Inbox>& inboxes_;
};

// A channel with its own connection.
std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // With retries gRPC would keep copies of sent messages.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

// Sends messages to one rank, one after the other.
class Sender final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Sender(const std::string& address, int rank)
      : channel_(ChannelTo(address)), stub_(channel_) {
    context_.set_wait_for_ready(true);
    stub_.PrepareBidiStreamingCall(&context_, absl::StrCat("/", rank),
                                   grpc::StubOptions(), this);
    AddHold();
    StartCall();
  }
  ~Sender() override {
    context_.TryCancel();
    RemoveHold();
    MutexLock lock(mutex_);
    while (!is_done_) changed_.WaitFor(mutex_, absl::Seconds(1));
  }

  void Start(absl::Span<const std::byte> message) {
    {
      MutexLock lock(mutex_);
      rest_ = message;
      held_ =
          static_cast<int>((message.size() + kPieceBytes - 1) / kPieceBytes);
    }
    WriteNext();
  }
  // Blocks until gRPC has written the message and released its memory.
  void Wait() {
    MutexLock lock(mutex_);
    while (held_ > 0 || is_writing_) {
      CHECK(changed_.WaitFor(mutex_, kTimeout));
    }
  }

  void OnWriteDone(bool ok) override {
    written_.Clear();
    if (ok) WriteNext();
  }
  void OnDone(const grpc::Status& /*status*/) override {
    MutexLock lock(mutex_);
    is_done_ = true;
    changed_.NotifyAll();
  }

 private:
  void WriteNext() {
    absl::Span<const std::byte> piece;
    {
      MutexLock lock(mutex_);
      piece = rest_.subspan(0, kPieceBytes);
      rest_.remove_prefix(piece.size());
      is_writing_ = !piece.empty();
      changed_.NotifyAll();
    }
    if (piece.empty()) return;
    const grpc::Slice slice(
        const_cast<std::byte*>(piece.data()), piece.size(),
        [](void* self) { static_cast<Sender*>(self)->LetGo(); }, this);
    written_ = grpc::ByteBuffer(&slice, 1);
    StartWrite(&written_);
  }
  void LetGo() {
    MutexLock lock(mutex_);
    --held_;
    changed_.NotifyAll();
  }

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer written_;
  Mutex mutex_;
  CondVar changed_;
  absl::Span<const std::byte> rest_ ABSL_GUARDED_BY(mutex_);
  // Pieces of the message whose memory gRPC has not released yet.
  int held_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_done_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

struct GrpcTransport::Impl {
  Impl(std::vector<std::string> all, int own)
      : addresses(std::move(all)),
        rank(own),
        inboxes(addresses.size()),
        service(inboxes),
        senders(addresses.size()) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(-1);
    builder.AddListeningPort(addresses[rank],
                             grpc::InsecureServerCredentials());
    builder.RegisterCallbackGenericService(&service);
    server = builder.BuildAndStart();
    CHECK(server != nullptr) << addresses[rank];
    for (size_t to = 0; to < addresses.size(); ++to) {
      if (static_cast<int>(to) == rank) continue;
      senders[to] = std::make_unique<Sender>(addresses[to], rank);
    }
  }

  const std::vector<std::string> addresses;
  const int rank;
  std::vector<Inbox> inboxes;
  Service service;
  std::unique_ptr<grpc::Server> server;
  std::vector<std::unique_ptr<Sender>> senders;
};

GrpcTransport::GrpcTransport(std::vector<std::string> addresses, int rank)
    : impl_(std::make_unique<Impl>(std::move(addresses), rank)) {}

GrpcTransport::~GrpcTransport() = default;

int GrpcTransport::rank() const { return impl_->rank; }

int GrpcTransport::world_size() const {
  return static_cast<int>(impl_->addresses.size());
}

std::string GrpcTransport::NameOf(int rank) const {
  return impl_->addresses[rank];
}

absl::Status GrpcTransport::Exchange(int to, absl::Span<const std::byte> out,
                                     int from, size_t in_size, Sink sink) {
  if (!out.empty()) impl_->senders[to]->Start(out);
  for (size_t offset = 0; offset < in_size;) {
    grpc::ByteBuffer piece = impl_->inboxes[from].Take();
    // Pass the piece as one block, since the sink expects whole cache lines.
    grpc::Slice block;
    CHECK(piece.TrySingleSlice(&block).ok() ||
          piece.DumpToSingleSlice(&block).ok());
    sink(offset,
         {reinterpret_cast<const std::byte*>(block.begin()), block.size()});
    offset += block.size();
  }
  if (!out.empty()) impl_->senders[to]->Wait();
  return absl::OkStatus();
}

void GrpcTransport::Abort(const absl::Status& reason) { LOG(FATAL) << reason; }

}  // namespace paceline::peers
