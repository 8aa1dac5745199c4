package io.github.idemspec.shop;

/** A request that is not carried out: what it has begun is rolled back, and its key is free again. */
final class Refused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  final transient Answer answer;

  Refused(Answer answer) {
    super(answer.body().toString());
    this.answer = answer;
  }

  static Refused noOrder(String id) {
    return new Refused(Answer.problem(404, "Not Found", "there is no order " + id));
  }

  /** The first request with the key had another content, so that this one has no answer. */
  static Refused keyReused(String detail) {
    return new Refused(
        Answer.problem(422, "The key was used for another request", detail).type("key-reused"));
  }
}
