import { queryOptions } from '@tanstack/react-query'
import { keyring } from '../keyring.ts'

/** The fingerprint of a public key as words. */
export const wordsQuery = (publicKeyJwk: string) =>
  queryOptions({
    queryKey: ['fingerprint-words', publicKeyJwk],
    queryFn: () => keyring.callLocked('fingerprintWords', { publicKeyJwk }),
    staleTime: Number.POSITIVE_INFINITY,
  })
