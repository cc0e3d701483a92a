import { Alert, Checkbox, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { IconEye } from '../ui/icons.ts'
import { Fingerprint } from './fingerprint.tsx'
import { pin, remember, useChecked } from './pins.ts'

/** The public key of a part of the server that would read an environment. */
interface Reader {
  principalId: string
  publicKeyJwk: string
}

/**
 * Tracks whether the person agrees that a part of the server reads an environment. If its key has changed, the person
 * must also compare the new one.
 */
export function useReaderKey(reader: Reader | null) {
  const checked = useChecked(reader === null ? [] : [reader])?.[0]
  const [allowed, setAllowed] = useState(false)
  const [compared, setCompared] = useState<string | null>(null)
  const isCompared = compared !== null && compared === reader?.publicKeyJwk
  const isKnown = checked !== undefined && (checked.status !== 'changed' || isCompared)
  const onCompared = (yes: boolean) => setCompared(yes ? (reader?.publicKeyJwk ?? null) : null)
  return {
    /** True if the key is the one seen before, or has been compared. */
    isKnown,
    isAgreed: allowed && isKnown,
    /** If the key has changed: its words, to compare. */
    words: checked?.status === 'changed' && (
      <Fingerprint holder="this server’s operator" checked={checked} compared={isCompared} onCompared={onCompared} />
    ),
    /** Remembers the key, compared or not, so that a later change is noticed. */
    agreed() {
      if (!reader || !checked) return
      const { principalId } = reader
      if (isCompared) pin(principalId, checked.fingerprint)
      else remember([{ principalId, fingerprint: checked.fingerprint }])
    },
    allowed,
    onAllowed: setAllowed,
  }
}

export type ReaderKey = ReturnType<typeof useReaderKey>

/** Says what the server will be able to read, and asks whether the person wants that. */
export function ReaderQuestion({ reader, children }: { reader: ReaderKey; children: ReactNode }) {
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconEye size={18} />}
      title="This server will be able to read the whole environment"
    >
      <Stack gap="sm">
        <span>{children}</span>
        {reader.words}
        <Checkbox
          label="Give this server the key"
          checked={reader.allowed}
          onChange={(event) => reader.onAllowed(event.currentTarget.checked)}
        />
      </Stack>
    </Alert>
  )
}
