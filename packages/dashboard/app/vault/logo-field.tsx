import { Button, FileButton, Group, Input } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { type ReactNode, useState } from 'react'

const pictureTypes = ['image/png', 'image/jpeg', 'image/webp']
// Base64 uses four characters for three bytes.
const mostKilobytes = Math.floor((limits.vaultLogoCharacters * 3) / 4 / 1024)

/** Reads a picture from a file into a data URL, because the Connect page loads nothing from other addresses. */
export function LogoField({
  value,
  error,
  onChange,
}: {
  value: string
  error?: ReactNode
  onChange: (url: string) => void
}) {
  const [problem, setProblem] = useState<string | null>(null)
  const choose = async (file: File | null) => {
    if (file === null) return
    const url = await dataUrlOf(file)
    const isTooLarge = url.length > limits.vaultLogoCharacters
    setProblem(isTooLarge ? `Choose a picture of at most ${mostKilobytes} kB.` : null)
    if (!isTooLarge) onChange(url)
  }
  return (
    <Input.Wrapper
      label="Picture"
      labelElement="div"
      description={`PNG, JPEG or WebP, at most ${mostKilobytes} kB. Without one, people see the first letter of the name.`}
      error={problem ?? error}
    >
      <Group gap="xs" mt={6}>
        <FileButton accept={pictureTypes.join(',')} onChange={choose}>
          {(props) => (
            <Button variant="default" size="xs" {...props}>
              {value === '' ? 'Choose a picture' : 'Choose another'}
            </Button>
          )}
        </FileButton>
        {value !== '' && (
          <Button variant="subtle" color="gray" size="xs" onClick={() => onChange('')}>
            Remove the picture
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  )
}

function dataUrlOf(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
