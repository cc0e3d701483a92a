/** A value that no server takes, found before it is sent. */
export class ValueTooLong extends Error {}
