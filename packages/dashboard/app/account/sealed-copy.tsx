import { Button, Group, Portal, Text, Title } from '@mantine/core'
import { IconPrinter } from '../ui/icons.ts'
import { Section } from '../ui/page.tsx'
import { QrCode } from '../ui/qr-code.tsx'

/**
 * A copy of the sealed key for printing. With the passphrase it unlocks the keyring even if the server's copy is lost or
 * damaged.
 */
export function SealedCopy(props: { email: string; words: string; encryptedPrivateKey: string }) {
  return (
    <Section
      title="Copy of the sealed key"
      description="A page to print. With the passphrase it unlocks your keyring even if the server’s copy is lost or altered."
      actions={
        <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => print()}>
          Print the copy
        </Button>
      }
    >
      <Portal>
        <Sheet {...props} />
      </Portal>
    </Section>
  )
}

function Sheet({ email, words, encryptedPrivateKey }: { email: string; words: string; encryptedPrivateKey: string }) {
  return (
    <div className="printed" aria-hidden>
      <Title order={1} mb="md">
        Skerry sealed key
      </Title>
      <Text>
        {email} at {location.origin}, printed on {new Date().toLocaleDateString('en', { dateStyle: 'long' })}
      </Text>
      <Text mt="md">
        The sealed key below opens your keyring with your passphrase, even if the server’s copy is lost or altered.
        Unlock your keyring with “Use a printed copy”, and scan or type it. Anyone who has both can read what you can
        read.
      </Text>
      <Title order={2} mt="lg">
        Passphrase
      </Title>
      <Text size="sm">Write it here only if you keep this page where you keep your passport.</Text>
      <div className="blank-line" />
      <Title order={2} mt="lg">
        Fingerprint of your key
      </Title>
      <Text className="mono">{words}</Text>
      <Title order={2} mt="lg">
        Sealed private key
      </Title>
      <Group align="flex-start" wrap="nowrap" mt="xs">
        <QrCode text={encryptedPrivateKey} size={180} label="The sealed private key" />
        <Text className="mono" size="xs" style={{ wordBreak: 'break-all' }}>
          {encryptedPrivateKey}
        </Text>
      </Group>
    </div>
  )
}
