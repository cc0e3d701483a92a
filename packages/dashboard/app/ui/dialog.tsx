import { Modal, type ModalProps } from '@mantine/core'
import { Layer } from './layer.tsx'

const noop = () => {}

/** A dialog as the toolkit makes it, which knows what lies over it and gives the focus back. */
export function Dialog({ opened, onClose, closeOnEscape = true, children, ...more }: ModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} closeOnEscape={false} returnFocus={false} {...more}>
      {opened && <Layer onEscape={closeOnEscape ? onClose : noop} />}
      {children}
    </Modal>
  )
}
