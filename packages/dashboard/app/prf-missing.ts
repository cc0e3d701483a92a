/** Thrown if a passkey cannot derive the secret that unlocks a keyring. */
export class PrfMissing extends Error {}
