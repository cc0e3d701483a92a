/** An error as AWS KMS answers it: a name that its SDKs know, and a message. */
export class AwsError extends Error {
  override readonly name: string
  readonly status: 400 | 403 | 500

  constructor(name: string, message: string, status: 400 | 403 | 500 = 400) {
    super(message)
    this.name = name
    this.status = status
  }
}

export const invalidInput = (message: string) => new AwsError('ValidationException', message)
