import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { isSlug, slugOf } from '../slug.ts'
import { FormDialog } from '../ui/form-dialog.tsx'

/** Makes something that has a name and a slug. */
export function CreateDialog(props: {
  title: string
  placeholder: string
  onCreate: (body: { name: string; slug: string }) => Promise<unknown>
  onClose: () => void
}) {
  const { title, placeholder, onCreate, onClose } = props
  const [name, setName] = useState('')
  const [typedSlug, setSlug] = useState<string | null>(null)
  const slug = typedSlug ?? slugOf(name)
  const problem = slug === '' || isSlug(slug) ? null : 'Lowercase letters, digits and inner hyphens.'
  return (
    <FormDialog
      title={title}
      submit="Create"
      opened
      onClose={onClose}
      onSubmit={() => onCreate({ name: name.trim(), slug })}
      disabled={name.trim() === '' || !isSlug(slug)}
    >
      <TextInput
        label="Name"
        placeholder={placeholder}
        value={name}
        maxLength={200}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <TextInput
        label="Slug"
        description="In addresses and commands. It never changes."
        classNames={{ input: 'mono' }}
        value={slug}
        error={problem}
        maxLength={63}
        onChange={(event) => setSlug(event.currentTarget.value)}
        autoComplete="off"
      />
    </FormDialog>
  )
}

export function RenameDialog(props: {
  title: string
  name: string
  onRename: (name: string) => Promise<unknown>
  onClose: () => void
}) {
  const { title, onRename, onClose } = props
  const [name, setName] = useState(props.name)
  return (
    <FormDialog
      title={title}
      submit="Rename"
      opened
      onClose={onClose}
      onSubmit={() => onRename(name.trim())}
      disabled={name.trim() === ''}
    >
      <TextInput
        label="Name"
        description="The slug stays as it is."
        value={name}
        maxLength={200}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
    </FormDialog>
  )
}
