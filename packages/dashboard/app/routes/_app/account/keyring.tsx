import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { AccountPage } from '../../../account/account-page.tsx'
import { KeyringPasskeys } from '../../../account/keyring-passkeys.tsx'
import { KitSection } from '../../../account/kit-section.tsx'
import { wordsQuery } from '../../../account/words.ts'
import { useAction } from '../../../action.ts'
import { keyring, useUnlocked } from '../../../keyring.ts'
import { unlockPrompt } from '../../../prompts.ts'
import { keysQuery, passkeysQuery, secondFactorQuery } from '../../../queries.ts'
import { Copy } from '../../../ui/copy.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { Section } from '../../../ui/page.tsx'
import { useDialog } from '../../../ui/use-dialog.ts'

// Each dialog is loaded when it first opens.
const ChangePassphrase = lazy(async () => ({
  default: (await import('../../../account/change-keys.tsx')).ChangePassphrase,
}))
const ReplaceKeypair = lazy(async () => ({
  default: (await import('../../../account/change-keys.tsx')).ReplaceKeypair,
}))
const CreateKeys = lazy(async () => ({ default: (await import('../../../account/create-keys.tsx')).CreateKeys }))
// Loaded separately, because its QR code is a large part of this page's code.
const SealedCopy = lazy(async () => ({ default: (await import('../../../account/sealed-copy.tsx')).SealedCopy }))

export const Route = createFileRoute('/_app/account/keyring')({
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(keysQuery)
    void context.queryClient.prefetchQuery(passkeysQuery)
    void context.queryClient.prefetchQuery(secondFactorQuery)
  },
  component: Keyring,
})

function Keyring() {
  const { me } = Route.useRouteContext()
  const query = useQuery(keysQuery)
  const userId = me.user?.id ?? ''
  return (
    <AccountPage part="Keyring">
      <Loaded query={query}>
        {({ publicKeyJwk, encryptedPrivateKey }) =>
          publicKeyJwk && encryptedPrivateKey ? (
            <Keys publicKeyJwk={publicKeyJwk} encryptedPrivateKey={encryptedPrivateKey} userId={userId} />
          ) : (
            <Suspense>
              <CreateKeys userId={userId} about={aboutOf(me.user)} />
            </Suspense>
          )
        }
      </Loaded>
    </AccountPage>
  )
}

/** Returns texts about the person that an attacker would guess first as a passphrase. */
const aboutOf = (user: { email: string | null; name: string | null } | null) =>
  [user?.email, user?.name].filter((text): text is string => Boolean(text))

function Keys(props: { publicKeyJwk: string; encryptedPrivateKey: string; userId: string }) {
  const { publicKeyJwk, encryptedPrivateKey, userId } = props
  const { me } = Route.useRouteContext()
  const { data: words = '' } = useQuery(wordsQuery(publicKeyJwk))
  const [isMakingKit, setIsMakingKit] = useState(false)
  const email = me.user?.email ?? userId
  return (
    <>
      <Section title="State">
        <State />
      </Section>
      <Section
        title="Fingerprint"
        description="People who share with you can compare these words with you, for example over the phone."
      >
        <Paper p="md">
          <Group justify="space-between" wrap="nowrap">
            <Text className="mono">{words}</Text>
            <Copy text={words} label="Copy the fingerprint" />
          </Group>
        </Paper>
      </Section>
      <KitSection person={{ userId, email, publicKeyJwk }} isMaking={isMakingKit} onMaking={setIsMakingKit} />
      <KeyringPasskeys userId={userId} email={email} />
      <Changes userId={userId} about={aboutOf(me.user)} publicKeyJwk={publicKeyJwk} />
      {/* Both are pages for the printer, which prints one of them. */}
      <Suspense>
        {!isMakingKit && (
          <SealedCopy email={me.user?.email ?? ''} words={words} encryptedPrivateKey={encryptedPrivateKey} />
        )}
      </Suspense>
    </>
  )
}

function Changes(props: { userId: string; about: string[]; publicKeyJwk: string }) {
  const { publicKeyJwk, ...person } = props
  const changing = useDialog()
  const replacing = useDialog()
  // The keyring is unlocked first, because its key is sealed again.
  const change = useAction(async () => {
    await keyring.unlock()
    changing.open()
  })
  return (
    <Section
      title="Passphrase and key pair"
      description="A new passphrase protects the same key. Replace the key pair if somebody else may have the key, or if you forgot the passphrase. A new key pair has no access until people grant it again."
      actions={
        <>
          <Button variant="default" onClick={() => change.run()}>
            Change the passphrase…
          </Button>
          <Button variant="default" onClick={() => replacing.open()}>
            Replace the key pair…
          </Button>
        </>
      }
    >
      <Suspense>
        {changing.show((onClose) => (
          <ChangePassphrase {...person} publicKeyJwk={publicKeyJwk} onClose={onClose} />
        ))}
        {replacing.show((onClose) => (
          <ReplaceKeypair {...person} onClose={onClose} />
        ))}
      </Suspense>
    </Section>
  )
}

function State() {
  const unlocked = useUnlocked()
  const unlock = useAction(() => unlockPrompt.ask())
  return (
    <Paper p="md">
      <Group justify="space-between">
        <Stack gap={2}>
          <Badge color={unlocked ? 'sea' : 'gray'} variant="light">
            {unlocked ? 'unlocked' : 'locked'}
          </Badge>
          <Text size="sm" c="dimmed">
            {unlocked
              ? 'It locks when you leave this page, sign out, or do nothing for 15 minutes.'
              : 'Values cannot be read until it is unlocked.'}
          </Text>
        </Stack>
        <Button variant="default" onClick={() => (unlocked ? keyring.lock() : unlock.run())}>
          {unlocked ? 'Lock' : 'Unlock'}
        </Button>
      </Group>
    </Paper>
  )
}
