/** A value that is too long for the server, noticed before it is sent. */
export class ValueTooLong extends Error {}
