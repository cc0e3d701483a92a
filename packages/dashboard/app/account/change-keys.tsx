import { Alert, List, Text } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { me } from '@skerry/contract/me/endpoints'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { isFresh, keysQuery, passkeysQuery, queryClient } from '../queries.ts'
import { useReloadMe } from '../reload-me.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { showToast } from '../ui/toast.ts'
import { NewPassphraseFields, useNewPassphrase } from './new-passphrase.tsx'

interface Person {
  userId: string
  about: string[]
  onClose: () => void
}

type Holding = Answer<typeof me.keyHoldings>['holdings'][number]

const holdingsQuery = queryOptions({
  queryKey: ['me', 'key-holdings'],
  queryFn: ({ signal }) => api.me.keyHoldings({}, { signal }),
  staleTime: 0,
})

/**
 * Seals the same private key under a new passphrase. The keyring must be unlocked, because the worker holds the key.
 */
export function ChangePassphrase({ userId, about, publicKeyJwk, onClose }: Person & { publicKeyJwk: string }) {
  const { passphrase, ready, fields } = useNewPassphrase(about)
  const change = async () => {
    const encryptedPrivateKey = await keyring.call('sealUnderPassphrase', { passphrase, userId })
    await api.me.patchKeys({ body: { encryptedPrivateKey, publicKeyJwk } })
    showToast('The keyring opens with the new passphrase.')
  }
  return (
    <FormDialog
      title="Change the passphrase"
      submit="Change the passphrase"
      onClose={onClose}
      onSubmit={change}
      stale={[keysQuery]}
      disabled={!ready}
    >
      <Text size="sm">
        Your key stays the same, so you can read the same secrets as before. Your recovery kit still works. A copy of
        the sealed key that you printed earlier still opens with the old passphrase: print a new copy and destroy the
        old one.
      </Text>
      <NewPassphraseFields {...fields} />
    </FormDialog>
  )
}

/** Replaces the key pair, for example after a leak of the private key or when the passphrase is lost. */
export function ReplaceKeypair({ userId, about, onClose }: Person) {
  const { passphrase, ready, fields } = useNewPassphrase(about)
  const query = useQuery(holdingsQuery)
  const reloadMe = useReloadMe()
  const replace = async () => {
    const keys = await keyring.callLocked('createKeys', { passphrase, userId })
    try {
      await api.me.replaceKeys({ body: keys })
    } catch (error) {
      keyring.lock()
      throw error
    }
    keyring.opened()
    queryClient.removeQueries({ queryKey: ['orgs'] })
    await reloadMe()
  }
  return (
    <FormDialog
      title="Replace the key pair"
      submit="Replace the key pair"
      onClose={onClose}
      onSubmit={replace}
      stale={[keysQuery, passkeysQuery, holdingsQuery]}
      disabled={!ready || !isFresh(query)}
      size="lg"
    >
      <Text size="sm">
        You get a new key. At once you lose all access that was granted to the old key, and your passkeys no longer
        unlock the keyring. Skerry tells the admins of your organizations. They should compare the words of the new key
        with you before they grant access again.
      </Text>
      <Loaded query={query}>{({ holdings }) => <Lost holdings={holdings} />}</Loaded>
      <NewPassphraseFields {...fields} />
    </FormDialog>
  )
}

function Lost({ holdings }: { holdings: Holding[] }) {
  const hopeless = holdings.filter(({ grantableBy }) => grantableBy.length === 0)
  return (
    <>
      {hopeless.length > 0 && (
        <Alert color="red" variant="light" title="Nobody can grant these again">
          You are the only admin who holds the key of {hopeless.map(labelOf).join(', ')}. Grant it to another admin
          first, or its values are lost.
        </Alert>
      )}
      {holdings.length > 0 && (
        <List size="sm" aria-label="Access that must be granted again">
          {holdings.map((one) => (
            <List.Item key={one.environmentId}>
              {labelOf(one)}:{' '}
              {one.grantableBy.map(({ name, principalId }) => name ?? principalId).join(', ') || 'nobody'}
            </List.Item>
          ))}
        </List>
      )}
    </>
  )
}

const labelOf = ({ orgSlug, label }: Holding) => `${orgSlug} ${label}`
