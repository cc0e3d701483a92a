/** Thrown before sending if a value is too long for the server. */
export class ValueTooLong extends Error {}
