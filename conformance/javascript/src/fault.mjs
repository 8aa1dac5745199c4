// A fault is one code of chapter 13 and a word for people.

// It is no Error on purpose: a fault is an answer, and its stack is nobody's business.
export class Fault {
  constructor(code, detail) {
    this.code = code;
    this.detail = detail;
  }
}

export function fail(code, detail) {
  throw new Fault(code, detail);
}

// refuse is the answer to an input of no known shape (CONF-021).
export function refuse(detail) {
  throw new Fault('INPUT_INVALID', detail);
}
